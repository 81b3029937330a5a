"""The table of public data files, and which of them a name means."""
import difflib
import fnmatch
import os
import pathlib
import re
import tomllib
from dataclasses import dataclass

from data.fault import Fault, usage

GROUPS = "groups"  # tasks/groups.toml: names of lists of suites


@dataclass(frozen=True)
class File:
    data_set: str  # the name that fetches it
    path: str  # below the data folder
    url_path: str  # owner/repository/commit/path
    size: int  # bytes
    sha256: str
    licence: str
    convert: str = ""  # the conversion that makes it, or nothing
    made_from: "File | None" = None  # the file converted; None: the one at url_path
    generate: str = ""  # the generator that makes it of nothing (url_path is then empty), or nothing


def home():
    """The folder that holds tasks/ and scripts/."""
    return pathlib.Path(os.environ.get("FULLBAND_HOME") or pathlib.Path(__file__).resolve().parent.parent.parent)


def data_folders(given):
    """Where data files are looked for, in order, as common/paths.h has it; new ones go into the first."""
    folders = [given, os.environ.get("FULLBAND_DATA"), os.environ.get("FULLBAND_CACHE")]
    if folders[2]:
        folders[2] = os.path.join(folders[2], "data")
    else:
        cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.environ.get("HOME") or "/tmp", ".cache")
        folders[2] = os.path.join(cache, "fullband", "data")
    return [pathlib.Path(folder) for folder in folders if folder]


def read_toml(path):
    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise usage(path, error.strerror, "$FULLBAND_HOME is the folder that has tasks/") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise usage(path, f"is not TOML: {error}") from error


def read_sources():
    """All files of tasks/data/sources.toml, in its order."""
    table = home() / "tasks" / "data" / "sources.toml"
    files = {}
    for folder, data_set in read_toml(table).items():
        try:
            for entry in data_set["files"]:
                file = read_file(folder, data_set, entry, files)
                files[file.path] = file
        except KeyError as error:
            raise usage(table, f"{folder}: {error.args[0]} is missing") from error
    return list(files.values())


def read_file(folder, data_set, entry, earlier):
    """One entry of the table; `earlier` has the files before it, by path."""
    generate, parts = entry.get("generate", ""), []
    if not generate:
        parts = [data_set["repository"], data_set["commit"], data_set.get("folder", ""),
                 entry.get("source", entry["file"])]
    licence = entry.get("licence", data_set["licence"])
    return File(entry.get("name", folder), f"{folder}/{entry['file']}", "/".join(part for part in parts if part),
                entry["bytes"], entry["sha256"], licence, entry.get("convert", ""),
                earlier[f"{folder}/{entry['from']}"] if "from" in entry else None, generate)


def below(path, folder):
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def choose(files, names, suites):
    """The files that `names` (data sets, folders, files, "all") and `suites` (names, paths) mean, in table order."""
    wanted = set()
    for name in names:
        found = {file.path for file in files
                 if name == "all" or file.data_set == name or below(file.path, name)}
        if not found:
            known = sorted({file.data_set for file in files} | {file.path for file in files})
            near = difflib.get_close_matches(name, known, 3)
            raise usage(name, "is not a data set", f"did you mean {', '.join(near)}?" if near else "fullband data list")
        wanted |= found
    for suite in suites:
        wanted |= {file.path for file in files_of_suite(files, suite)}
    wanted |= {file.made_from.path for file in files if file.path in wanted and file.made_from}
    return [file for file in files if file.path in wanted]


def files_of_suite(files, name):
    """The files of the table that a suite's TOML, or those of a group's suites, names in a `path`.

    {part} in a path stands for any text; a folder's path, for all below it.
    """
    folder = home() / "tasks"
    suites = {path.stem: path for path in folder.glob("*.toml") if path.stem != GROUPS}
    groups = {"all": list(suites)}
    if (folder / f"{GROUPS}.toml").exists():
        groups |= read_toml(folder / f"{GROUPS}.toml")
    if name.endswith(".toml") or "/" in name:
        tomls = [pathlib.Path(name)]
    elif name in groups or name in suites:
        tomls = [folder / f"{suite}.toml" for suite in groups.get(name, [name])]
    else:
        near = difflib.get_close_matches(name, [*suites, *groups], 3)
        remedy = f"did you mean {', '.join(near)}?" if near else "fullband suites lists them"
        raise usage(name, "is not a suite", remedy)
    patterns = [re.sub(r"\{[^{}]*\}", "*", path) for toml in tomls for path in paths_in(read_toml(toml))]
    return [file for file in files
            if any(fnmatch.fnmatchcase(file.path, pattern) or below(file.path, pattern) for pattern in patterns)]


def paths_in(value):
    """Every string that is a `path` of a TOML table, at any depth."""
    if isinstance(value, list):
        for part in value:
            yield from paths_in(part)
    elif isinstance(value, dict):
        for key, part in value.items():
            if key == "path":
                yield from (text for text in (part if isinstance(part, list) else [part]) if isinstance(text, str))
            else:
                yield from paths_in(part)


def where(file, folders):
    """The path of the file in the first folder that has it, or None."""
    return next((folder / file.path for folder in folders if (folder / file.path).exists()), None)


def read_bytes(path):
    try:
        return path.read_bytes()
    except OSError as error:
        raise Fault(path, f"cannot be read: {error.strerror}", "check its permissions") from error
