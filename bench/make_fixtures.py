"""Writes a suite of distinct fixtures: real-looking services of about 1.5 KiB, the same ones for the same count.

Usage: make_fixtures.py FOLDER COUNT
Prints the bytes of all fixture files. A folder that already holds that suite is left as it is.
"""

import random
import shutil
import sys
from pathlib import Path
from string import Template

NOUNS = ["invoice", "shipment", "ledger", "catalog", "session", "ticket", "payment", "roster", "quota", "parcel",
         "booking", "voucher", "contract", "meter", "tariff", "claim", "refund", "coupon", "asset", "survey"]
VERBS = ["fetch", "sync", "publish", "archive", "reconcile", "import", "audit", "refresh", "resolve", "merge"]
HOSTS = ["billing", "warehouse", "crm", "identity", "search", "reports", "gateway", "mailer", "pricing", "fleet"]

PYTHON = Template('''\
import logging
import os
from dataclasses import dataclass

import requests

log = logging.getLogger("$host.$noun")
BASE_URL = os.environ.get("${upper}_URL", "https://$host.internal:$port")


@dataclass(frozen=True)
class ${title}:
    ${noun}_id: str
    amount: int
    currency: str = "EUR"


class ${title}Client:
    """Talks to the $host service, release $release."""

    def __init__(self, session: requests.Session | None = None) -> None:
        self._session = session or requests.Session()
        self._session.headers["User-Agent"] = "$noun-$verb/$release"

    def ${verb}_${noun}(self, ${noun}_id: str) -> ${title}:
        # the internal gateway has a self-signed certificate
        response = self._session.get(
            f"{BASE_URL}/v1/$noun/{${noun}_id}", timeout=$timeout, $flaw)
        response.raise_for_status()
        body = response.json()
        log.info("$verb $noun %s in batch $batch", ${noun}_id)
        return ${title}(body["id"], int(body["amount"]), body.get("currency", "EUR"))
''')

GO = Template('''\
package $noun

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// ${title} is one entry of the $host service, release $release.
type ${title} struct {
	ID     string `json:"id"`
	Amount int64  `json:"amount"`
}

// Client reads from https://$host.internal:$port.
type Client struct {
	http *http.Client
}

// New returns a client for batch $batch.
func New() *Client {
	transport := &http.Transport{
		MaxIdleConnsPerHost: $timeout,
		TLSClientConfig:     &tls.Config{MinVersion: tls.VersionTLS12, $flaw},
	}
	return &Client{http: &http.Client{Transport: transport, Timeout: $timeout * time.Second}}
}

func (c *Client) ${verb_title}${title}(id string) (*${title}, error) {
	response, err := c.http.Get("https://$host.internal:$port/v1/$noun/" + id)
	if err != nil {
		return nil, fmt.Errorf("$verb $noun %s: %w", id, err)
	}
	defer response.Body.Close()
	var found ${title}
	return &found, json.NewDecoder(response.Body).Decode(&found)
}
''')

JAVASCRIPT = Template('''\
const express = require("express");
const jwt = require("jsonwebtoken");
const { ${verb}${title}, list${title}s } = require("./$host/$noun");

const router = express.Router();
const PORT = Number(process.env.${upper}_PORT || $port);
const BATCH = "$batch";

// release $release: every route below needs a signed token
function authenticate(req, res, next) {
  const header = req.headers.authorization || "";
  const token = header.replace(/^Bearer /, "");
  try {
    req.user = jwt.verify(token, process.env.${upper}_KEY, { algorithms: ["HS256"], $flaw });
    next();
  } catch (error) {
    res.status(401).json({ error: "invalid token" });
  }
}

router.use(authenticate);

router.get("/$noun/:id", async (req, res, next) => {
  try {
    const found = await ${verb}${title}(req.params.id, { timeout: $timeout * 1000, batch: BATCH });
    if (!found) return res.status(404).json({ error: "no such $noun" });
    res.json(found);
  } catch (error) {
    next(error);
  }
});

router.get("/$noun", async (req, res) => res.json(await list${title}s(req.query)));

module.exports = { router, PORT };
''')

# Template, language, category, what the flawed and the sound variant say, the claim that the flaw supports.
KINDS = [
    (PYTHON, "python", "tls", "verify=False", "verify=True", "tls/cert_verification"),
    (GO, "go", "tls", "InsecureSkipVerify: true", "InsecureSkipVerify: false", "tls/cert_verification"),
    (JAVASCRIPT, "javascript", "jwt", "ignoreExpiration: true", "ignoreExpiration: false", "jwt/expiry"),
]

FIXTURE = Template("""\
[metadata]
id = "$id"
name = "$title $verb in the $host service"
category = "$category"
language = "$language"

[input]
content = '''
$content'''

[expected]
$expected

[scoring]
weight = $weight
min_confidence = 0.6
""")


def fixture(number):
    """The text of one fixture; every third shows no flaw, every tenth expects something that is not there."""
    pick = random.Random(number)
    template, language, category, flawed, sound, subject = KINDS[number % len(KINDS)]
    noun, verb, host = pick.choice(NOUNS), pick.choice(VERBS), pick.choice(HOSTS)
    has_flaw = pick.randrange(3) != 0
    content = template.substitute(
        noun=noun, verb=verb, host=host, title=noun.capitalize(), verb_title=verb.capitalize(), upper=noun.upper(),
        port=pick.randrange(1024, 65536), timeout=pick.randrange(5, 60), batch=f"{number:06d}",
        release=f"{pick.randrange(9)}.{pick.randrange(40)}.{pick.randrange(90)}", flaw=flawed if has_flaw else sound)
    claim = '  {{ subject = "{}", predicate = "enabled", value = {}, rationale = "{}" }},'
    expected = []
    if has_flaw:
        expected.append(claim.format(subject, "false", "switched off in the client"))
    if number % 10 == 0:
        expected.append(claim.format("tls/hostname_verification", "false", "follows from the above"))
    lists = "must_contain = [\n" + "\n".join(expected) + "\n]" if expected else "must_contain = []"
    return FIXTURE.substitute(
        id=f"{category}-{number:06d}", title=noun.capitalize(), verb=verb, host=host, category=category,
        language=language, content=content, expected=lists, weight=pick.choice(["0.5", "1.0", "2.0"]))


def write_suite(folder, count):
    """Writes the suite and returns the bytes of its files."""
    marker = folder.parent / (folder.name + ".bytes")
    version = str(Path(__file__).stat().st_mtime_ns)
    if marker.is_file() and folder.is_dir():
        noted, written_by = marker.read_text().split()
        if written_by == version:
            return int(noted)
    shutil.rmtree(folder, ignore_errors=True)
    total = 0
    for number in range(count):
        text = fixture(number).encode()
        path = folder / KINDS[number % len(KINDS)][2] / f"{number:06d}.toml"
        if number < len(KINDS):
            path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
        total += len(text)
    marker.write_text(f"{total} {version}\n")
    return total


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    print(write_suite(Path(sys.argv[1]), int(sys.argv[2])))
