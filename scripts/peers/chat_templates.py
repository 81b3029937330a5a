"""Records what transformers' apply_chat_template gives for the templates of tests/data/peers/chat_templates.json.

    .venv-peers/bin/python3 scripts/peers/chat_templates.py [SMOLLM2_FOLDER]

The templates are small ones in the manner of the model families named; they live here.
"""

import json
import os
import sys

from transformers import AutoTokenizer, PreTrainedTokenizerFast
from tokenizers import Tokenizer, models

HOME = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
TARGET = os.path.join(HOME, "tests", "data", "peers", "chat_templates.json")

TEMPLATES = {
    # Headers around roles, the start token from a variable, trimmed contents, refusal of strange orders.
    "llama3": """{{- bos_token }}
{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content']|trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system_message = "" %}
{%- endif %}
{%- if not date_string is defined %}
    {%- set date_string = "26 Jul 2024" %}
{%- endif %}
{{- "<|start_header_id|>system<|end_header_id|>\\n\\n" }}
{{- "Today: " + date_string + "\\n\\n" + system_message + "<|eot_id|>" }}
{%- for message in messages %}
    {%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}
        {{- raise_exception("Roles must alternate user and assistant, not " + message['role']) }}
    {%- endif %}
    {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n' + message['content'] | trim + '<|eot_id|>' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}
{%- endif %}
""",
    # A default system turn; tools (never given) and their JSON.
    "qwen25": """{%- if tools %}
    {{- '<|im_start|>system\\n' }}
    {%- for tool in tools %}{{- tool | tojson }}{%- endfor %}
    {{- '<|im_end|>\\n' }}
{%- elif messages[0]['role'] == 'system' %}
    {{- '<|im_start|>system\\n' + messages[0]['content'] + '<|im_end|>\\n' }}
{%- else %}
    {{- '<|im_start|>system\\nYou help.<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) or (message.role == "assistant" and not message.tool_calls) %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>' + '\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
{%- endif %}
""",
    # Namespaces, reversed walks, thoughts dropped from earlier turns, an undefined switch.
    "qwen3": """{%- set ns = namespace(last=messages|length - 1, found=false) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if not ns.found and message.role == "user" and message.content is string %}
        {%- set ns.found = true %}
        {%- set ns.last = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- set content = message.content %}
    {%- if message.role == "assistant" %}
        {%- set thought = '' %}
        {%- if '</think>' in content %}
            {%- set thought = content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}
            {%- set content = content.split('</think>')[-1].lstrip('\\n') %}
        {%- endif %}
        {%- if loop.index0 > ns.last and (loop.last or thought) %}
            {{- '<|im_start|>assistant\\n<think>\\n' + thought.strip('\\n') + '\\n</think>\\n\\n' + content }}
        {%- else %}
            {{- '<|im_start|>assistant\\n' + content }}
        {%- endif %}
    {%- else %}
        {{- '<|im_start|>' + message.role + '\\n' + content }}
    {%- endif %}
    {{- '<|im_end|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}
        {{- '<think>\\n\\n</think>\\n\\n' }}
    {%- endif %}
{%- endif %}
""",
    # What changes the text around blocks: trim_blocks, lstrip_blocks; and generation blocks, loop controls, tojson.
    "blocks": """{% for message in messages %}
    {% if message.role == 'system' %}
        {% continue %}
    {% endif %}
  {{ message.role }}: {{ message | tojson }}
    {% if message.role == 'assistant' %}
{% generation %}{% set seen = 1 %}<{{ message.content }}{{ eos_token }}>{% endgeneration %}

    {% endif %}
{{ seen }}{{ pad_token }}{{ cls_token }}
    {% if loop.index >= 3 %}{% break %}{% endif %}
{% endfor %}
{{ {"b": ["<é&'>", 1.5, none], "a": true} | tojson(indent=2) }}
{% if add_generation_prompt %}go{% endif %}
""",
}

def turn(role, text):
    return {"role": role, "content": text}


CONVERSATIONS = [
    [turn("user", "Hello")],
    [turn("system", "Be brief. "), turn("user", "  What is 2+2?\n")],
    [turn("user", "a"), turn("assistant", "<think>\nhm\n</think>\n\nb"), turn("user", "ünï 漢字 🙂 \"q\" 'q' <b>&amp;")],
    [turn("system", ""), turn("user", "x"), turn("assistant", "y\n"), turn("user", "z"), turn("assistant", "w")],
    [turn("user", "{{ bos_token }} {% if %} <|im_end|>\t\u2028 end"), turn("assistant", "<think>t</think>u")],
    [turn("assistant", "first"), turn("user", "second")],
]

TOKENS = {"bos_token": "<|begin|>", "eos_token": "<|end|>", "pad_token": "<|pad|>"}


def plain_tokenizer():
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.BPE()), **TOKENS)
    tokenizer.chat_template = None
    return tokenizer


def record(name, tokenizer, template):
    cases = []
    for messages in CONVERSATIONS:
        for prompt in (False, True):
            case = {"template": name, "messages": messages, "add_generation_prompt": prompt}
            try:
                case["text"] = tokenizer.apply_chat_template(
                    messages, chat_template=template, tokenize=False, add_generation_prompt=prompt
                )
            except Exception as error:
                case["error"] = str(error)
            cases.append(case)
    return cases


def main():
    cases = []
    for name, template in TEMPLATES.items():
        cases += record(name, plain_tokenizer(), template)
    if len(sys.argv) > 1:
        cases += record("smollm2", AutoTokenizer.from_pretrained(sys.argv[1]), None)
    with open(TARGET, "w", encoding="utf-8") as file:
        json.dump({"tokens": TOKENS, "templates": TEMPLATES, "cases": cases}, file, ensure_ascii=False, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
