"""Files that are whole or not there, whenever the process is killed."""
from pathlib import Path


def write_whole(path, text):
    """Writes a text file, beside it first and then renamed; makes its folder."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.tmp")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)
