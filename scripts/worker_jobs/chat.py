"""Renders chat templates as Hugging Face's apply_chat_template does."""

import functools
import json
from datetime import datetime

import jinja2
import jinja2.ext
from jinja2.sandbox import ImmutableSandboxedEnvironment


class GenerationBlocks(jinja2.ext.Extension):
    """{% generation %} … {% endgeneration %} marks the assistant's text for training; rendering just passes it on."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        # A scope of its own, as the block is one for Hugging Face: what is set inside is not seen after it.
        return jinja2.nodes.Scope(body, lineno=line)


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def strftime_now(layout):
    return datetime.now().strftime(layout)


def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    # Jinja's own filter escapes HTML, which a prompt must not have.
    return json.dumps(
        value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
    )


@functools.lru_cache(maxsize=8)
def compiled(text):
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[GenerationBlocks, jinja2.ext.loopcontrols]
    )
    environment.filters["tojson"] = tojson
    environment.globals["raise_exception"] = raise_exception
    environment.globals["strftime_now"] = strftime_now
    return environment.from_string(text)


def render_chat(request):
    """{"template", "messages": [[role, content]], "add_generation_prompt", "variables": {"bos_token": …}}"""
    try:
        return compiled(request["template"]).render(
            **request["variables"],
            messages=[{"role": role, "content": content} for role, content in request["messages"]],
            tools=None,
            documents=None,
            add_generation_prompt=request["add_generation_prompt"],
        )
    except jinja2.exceptions.TemplateSyntaxError as error:
        raise ValueError(f"line {error.lineno}: {error.message}") from None
