"""Runs a `python` check of promptfoo for sluice: reads an answer as JSON from standard input and writes a verdict
to standard output. The code stands in the suite, in CODE, or in FILE, as the function NAME (get_assert). A
transform, the function NAME of a FILE, makes what it judges.

Usage: python3 promptfoo_check.py [--transform FILE NAME] [--code CODE | FILE [NAME]]
"""

import asyncio
import dataclasses
import importlib.util
import inspect
import json
import math
import os
import sys
import textwrap

# White space to JavaScript, which is not that of Python.
BLANKS = "\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200B)))


def output_of(answer, is_json):
    """Calls of tools are the last lines of an answer; promptfoo has them as OpenAI does."""
    try:
        lines = answer.split("\n")
        calls = []
        while lines and lines[-1].startswith('{"tool_call":'):
            call = json.loads(lines.pop())["tool_call"]
            arguments = call["arguments"]
            if not isinstance(arguments, str):
                arguments = json.dumps(arguments, separators=(",", ":"), ensure_ascii=False)
            calls.insert(0, {"type": "function", "function": {"name": call["name"], "arguments": arguments}})
        if calls and lines:
            return {"role": "assistant", "content": "\n".join(lines), "tool_calls": calls}
        if calls:
            return calls
        parsed = json.loads(answer) if is_json else None
        return answer if parsed is None else parsed
    except (ValueError, KeyError, TypeError):
        return answer


def function_of(path, name):
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    module_name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(module_name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    spec.loader.exec_module(module)
    return getattr(module, name)


def result_of(function, *arguments):
    result = function(*arguments)
    if not inspect.isawaitable(result):
        return result

    async def awaited():
        return await result

    return asyncio.run(awaited())


def transformed(output, context, arguments):
    """One that fails, or makes nothing, leaves nothing to judge."""
    output = result_of(function_of(*arguments), output, context)
    if output is None:
        raise ValueError("the transform returned nothing")
    return output


def loaded(code, arguments):
    if arguments:
        return function_of(arguments[0], arguments[1] if len(arguments) > 1 else "get_assert")
    code = code.strip("\n").rstrip()
    body = code if "\n" in code else "return " + code.lstrip()
    scope = {"json": json}
    exec(compile("def main(output, context):\n" + textwrap.indent(body, "    "), "check", "exec"), scope)
    return scope["main"]


def value_of(result):
    """A text may say a verdict, too."""
    if dataclasses.is_dataclass(result) and not isinstance(result, type):
        return dataclasses.asdict(result)
    if not isinstance(result, str):
        return result
    if result.lower() in ("true", "false"):
        return result.lower() == "true"
    return json.loads(result) if result.startswith("{") else float(result)


def verdict_of(result, threshold, shown):
    value = value_of(result)
    said = f"returned {str(result)[:200]}"
    wanted = "" if threshold is None else f", and the threshold is {threshold}"
    if isinstance(value, bool):
        return {"pass": value, "score": int(value), "reason": f"{said}: {shown}"}
    if isinstance(value, (int, float)) and math.isfinite(value):
        passes = value > 0 if threshold is None else value >= threshold
        return {"pass": passes, "score": value, "reason": f"{said}{wanted}: {shown}"}
    if isinstance(value, dict):
        passes, score = value.get("pass", value.get("pass_")), value.get("score")
        is_number = isinstance(score, (int, float)) and not isinstance(score, bool) and math.isfinite(score)
        if isinstance(passes, bool) and is_number:
            parts = value.get("componentResults", value.get("component_results")) or []
            failed = [one for one in parts if isinstance(one, dict) and one.get("pass", one.get("pass_")) is False]
            reason = value.get("reason") or "; ".join(str(one.get("reason", "")) for one in failed)
            if threshold is not None and score < threshold:
                passes, reason = False, f"{wanted[6:]}: {reason}"
            return {"pass": passes, "score": score, "reason": str(reason)[:4000]}
    raise TypeError(f"{said}, which is no boolean, number or {{pass, score, reason}}: {shown}")


def main():
    given = json.loads(sys.stdin.buffer.read())
    verdicts, sys.stdout = sys.stdout, sys.stderr  # What the code prints is no verdict.
    parameters = given["parameters"]
    code, arguments = parameters.get("code", ""), sys.argv[1:]
    transform = []
    if arguments[:1] == ["--transform"]:
        transform, arguments = arguments[1:3], arguments[3:]
    if arguments[:1] == ["--code"]:
        with open(arguments[1], encoding="utf-8") as file:
            code, arguments = file.read(), []
    variables = parameters.get("vars", {})
    answer = output_of(given["answer"], parameters.get("json"))
    prompt = given["case"]["prompt"]
    output = answer.strip(BLANKS) if parameters.get("trimmed") else answer
    if transform:
        seen = {"vars": variables, "prompt": {"label": prompt, "raw": prompt}}
        output = transformed(answer, seen, transform)
    context = {
        "prompt": prompt,
        "vars": variables,
        "test": {"description": given["case"]["name"], "vars": variables},
        "provider": {"id": given["case"]["model"]},
        "providerResponse": {"output": answer, "finishReason": given["finish_reason"]},
    }
    if "config" in parameters:
        context["config"] = parameters["config"]
    judge = loaded(code, arguments)
    try:
        result = result_of(judge, output, context)
        shown = arguments[0] if arguments else " ".join(code.split())[:200]
        verdict = verdict_of(result, parameters.get("threshold"), shown)
    except Exception as error:
        # The check fails, as it does there; and passes no not_command.
        if parameters.get("negated"):
            raise
        verdict = {"pass": False, "score": 0, "reason": f"threw {type(error).__name__}: {error}"[:4000]}
    verdicts.write(json.dumps(verdict))


if __name__ == "__main__":
    try:
        main()
    except Exception as error:
        sys.exit(f"promptfoo_check.py: {type(error).__name__}: {error}")
