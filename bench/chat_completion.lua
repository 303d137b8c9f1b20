-- wrk script: a chat completion request of 3 to 4 KiB, as sluice sends it, to measure the simulator alone:
--   wrk -c200 -t1 -d10s -s bench/chat_completion.lua http://127.0.0.1:PORT/v1/chat/completions
local code = [[
import os
import requests
from flask import Flask, jsonify, request

app = Flask(__name__)
API_KEY = "sk_live_4eC39HqLyjWDarjtT1zdp7dc"

def fetch_invoice(customer_id, month):
    # the internal gateway has a self-signed certificate
    response = requests.get(
        f"https://billing.internal/invoices/{customer_id}/{month}",
        headers={"Authorization": f"Bearer {API_KEY}"},
        timeout=10,
        verify=False,
    )
    response.raise_for_status()
    return response.json()

@app.route("/invoices/<customer_id>")
def invoices(customer_id):
    month = request.args.get("month", "2026-01")
    try:
        return jsonify(fetch_invoice(customer_id, month))
    except requests.HTTPError as error:
        return jsonify({"error": str(error)}), 502

if __name__ == "__main__":
    app.run(port=int(os.environ.get("PORT", "8000")))
]]
local system = string.rep("Report each security-relevant fact as a claim in the vocabulary below; " ..
  "leave out what the file does not show. ", 14)
local schema = [[{"type":"object","additionalProperties":false,"required":["claims"],"properties":{"claims":]] ..
  [[{"type":"array","items":{"type":"object","additionalProperties":false,"required":["subject","predicate",]] ..
  [["value","confidence","line"],"properties":{"subject":{"type":"string"},"predicate":{"type":"string"},]] ..
  [["value":{"anyOf":[{"type":"string"},{"type":"number"},{"type":"boolean"}]},"confidence":{"type":"number"},]] ..
  [["line":{"type":["integer","null"]}}}}}}]]

local function quote(text)
  return '"' .. text:gsub('[\\"]', "\\%0"):gsub("\n", "\\n") .. '"'
end

wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Authorization"] = "Bearer sim-key"
wrk.body = '{"model":"gpt-4o-mini","temperature":0.1,"max_completion_tokens":4096,"messages":[{"role":"system",' ..
  '"content":' .. quote(system) .. '},{"role":"user","content":' ..
  quote("Language: python\n----- FILE -----\n" .. code) ..
  '}],"response_format":{"type":"json_schema","json_schema":{"name":"claims","strict":true,"schema":' .. schema .. "}}}"
