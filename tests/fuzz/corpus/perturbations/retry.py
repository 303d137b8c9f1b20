#!/usr/bin/env python3
# -*- coding: utf-8 -*-
"""Retries with back-off."""  # not '''this'''

import time

PATTERN = r'\d+\'# no comment'


def call(fetch, times=3, *, name="it's"):
    for n in range(times):  # at most
        try:
            return fetch(f"{name!r:>{n}} {'#'} {{}}")
        except OSError as error:
            text = f'''{error}
# still text {n + 1}'''
            print(text, \
                  end='')
    	# odd indentation
    raise TimeoutError(rb'\x00', "a" 'b')
