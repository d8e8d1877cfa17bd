"""The same function at many parameters and states, on all cores or on many machines.

The work is cut into shards. What a shard computes depends on its items alone, each with a random
generator of its own, so that results are the same bits for any number of workers and any cut.
"""

from __future__ import annotations

import os
import pickle
import sys
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from multiprocessing import current_process, get_context
from pathlib import Path
from typing import Any

import numpy as np

from .checkpoint import Checkpoint, plain
from .errors import DuplicateName, InvalidModel, SizeMismatch, part_name

#: How often a shard is tried before it is given up.
TRIES = 3


@dataclass
class Failure:
    """An item that raised three times, or a shard whose worker was gone as often."""

    items: list[int]
    parameters: list[Any]
    seeds: list[int]
    error: str


@dataclass
class Sweep:
    """What a sweep found. `results[i]` is that of item i, or None where it failed."""

    results: list[Any]
    failures: list[Failure] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Whether every item has a result."""
        return not self.failures

    def table(self) -> dict[str, Any]:
        """Results that are dicts of numbers, or numbers, as columns; nan where items failed."""
        names: dict[str, None] = {}
        for r in self.results:
            names.update(dict.fromkeys(r if isinstance(r, Mapping) else () if r is None else ["value"]))
        columns = {}
        for name in names:
            values = [
                r.get(name, np.nan) if isinstance(r, Mapping) else np.nan if r is None else r
                for r in self.results
            ]
            try:
                columns[name] = np.array(
                    [np.full_like(_first(values), np.nan) if _is_nan(x) else x for x in values]
                )
            except ValueError:
                raise SizeMismatch(
                    f"sweep: results '{name}' are no numbers or of several shapes, expected numbers "
                    "or arrays of one shape"
                ) from None
        return columns

    def to_pandas(self) -> Any:
        """The table as a pandas.DataFrame."""
        import pandas

        return pandas.DataFrame(
            {name: list(x) if x.ndim > 1 else x for name, x in self.table().items()}
        )

    def write(self, file: str | os.PathLike[str]) -> None:
        """Writes the table as .csv or .h5: item, one column a number, and why an item failed.

        HDF5 has a data set for each column, as `espalier sweep` writes it.
        """
        path = Path(file)
        errors = [""] * len(self.results)
        for failure in self.failures:
            for item in failure.items:
                errors[item] = failure.error
        columns: dict[str, Any] = {"item": np.arange(len(self.results))}
        taken = {"item", "error"}
        for name, values in self.table().items():
            if not isinstance(name, str):
                raise TypeError(f"sweep: name of a result is {name!r}, expected a text")
            flat = values.reshape(len(self.results), -1)
            for k in range(flat.shape[1]):
                column = name if values.ndim == 1 else f"{name}[{k}]"
                data_set = column if path.suffix == ".csv" else column.replace("/", "_")
                if data_set in taken or data_set in ("", "."):
                    raise DuplicateName(
                        f"sweep: column '{column}' is given twice or has no name in {path}, "
                        "expected results of names that differ (item and error are there by "
                        "themselves; HDF5 takes '/' as '_')"
                    )
                taken.add(data_set)
                columns[column] = flat[:, k]
        if path.suffix not in (".csv", ".h5", ".hdf5"):
            raise InvalidModel(
                f"sweep: ending of {path} is '{path.suffix}', expected .csv, .h5 or .hdf5"
            )
        part = Path(part_name(path))
        try:
            (_write_csv if path.suffix == ".csv" else _write_hdf5)(part, columns, errors)
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)

    def __repr__(self) -> str:
        done = sum(r is not None for r in self.results)
        return f"<espalier.Sweep: {done} of {len(self.results)} items, {len(self.failures)} failures>"


def _write_hdf5(file: Path, columns: Mapping[str, Any], errors: list[str]) -> None:
    import h5py

    with h5py.File(file, "w", track_order=True) as out:
        for name, values in columns.items():
            out[name.replace("/", "_")] = values
        out.create_dataset("error", data=errors, dtype=h5py.string_dtype())


def _write_csv(file: Path, columns: Mapping[str, Any], errors: list[str]) -> None:
    import csv

    with open(file, "w", newline="", encoding="utf-8") as text:
        rows = csv.writer(text, lineterminator="\n")
        rows.writerow([*columns, "error"])
        for k, error in enumerate(errors):
            cells = ["" if _is_nan(x[k]) else repr(plain(x[k])) for x in columns.values()]
            rows.writerow([*cells, error])


def _is_nan(x: Any) -> bool:
    return isinstance(x, float) and x != x


def _first(values: Sequence[Any]) -> Any:
    return next((np.asarray(x, dtype=float) for x in values if not _is_nan(x)), np.asarray(np.nan))


@dataclass
class _Shard:
    """Items that one worker computes in one go; all that it needs to be computed anywhere."""

    items: list[int]
    parameters: list[Any]
    seeds: list[int]
    seed: int

    def part(self, which: Sequence[int]) -> _Shard:
        """Some of its items, by their places."""
        return _Shard([self.items[k] for k in which], [self.parameters[k] for k in which],
                      [self.seeds[k] for k in which], self.seed)


@dataclass
class _Raised:
    """What an item raised, in place of its result."""

    error: str


def _run_shard(function: Callable[..., Any], shard: _Shard, states: Any) -> list[Any]:
    """Results of a shard's items, one that raises does not take the others along; called in the
    worker."""
    out = []
    for item, parameters, number in zip(shard.items, shard.parameters, shard.seeds):
        random = np.random.Generator(np.random.PCG64(np.random.SeedSequence((shard.seed, number))))
        state = None if states is None else states[item]
        try:
            out.append(_call(function, parameters, state, random))
        except Exception as error:
            out.append(_Raised(
                f"sweep: item {item} with parameters {parameters!r} and seed {number}: "
                f"{''.join(traceback.format_exception_only(type(error), error)).strip()}"
            ))
    return out


def _call(function: Callable[..., Any], parameters: Any, state: Any, random: Any) -> Any:
    arguments = [parameters]
    if state is not None:
        arguments.append(state)
    return function(*arguments, random=random) if _wants_random(function) else function(*arguments)


def _wants_random(function: Callable[..., Any]) -> bool:
    import inspect

    try:
        found = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
    return "random" in found or any(p.kind is p.VAR_KEYWORD for p in found.values())


class _Progress:
    """A bar on standard error, and the caller's function."""

    def __init__(self, total: int, wanted: bool | None, partial: Any):
        from .simulation import _bar

        self._bar = _bar("sweep", wanted)
        self._total, self._partial = total, partial

    def show(self, results: Mapping[int, Any]) -> None:
        if self._bar is not None:
            self._bar(len(results) / max(1, self._total))
        if self._partial is not None:
            self._partial(dict(results))

    def end(self) -> None:
        if self._bar is not None:
            print(file=sys.stderr)


def sweep(
    function: Callable[..., Any],
    parameters: Sequence[Any],
    states: Sequence[Any] | None = None,
    client: Any = None,
    *,
    workers: int | None = None,
    shard_size: int | None = None,
    seed: int = 0,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
    partial: Callable[[dict[int, Any]], None] | None = None,
) -> Sweep:
    """Calls ``function(parameters[i][, states[i]][, random=generator])`` for every i.

    function: of a module that the workers can import; it gives a number, an array or a dict of
    these. parameters: robots (models pickle), dicts, numbers. random: a generator of the item's
    own, made of `seed` and i. client: a dask.distributed Client; without one all cores of this
    machine, each a process. workers: their number without a client (1: in this process).
    shard_size: items that are sent at once. checkpoint: a .npz or .h5 file; items that it has are
    not computed again, and one of another function, parameters, states or seed is refused. It keeps
    numbers, texts, arrays, lists of numbers and dicts of these by name; another result raises.
    partial: called with the results so far. An item that raises, and a shard whose worker is
    killed, is run again; what fails three times is reported in `failures`, and all else is kept.
    """
    _expect_no_import_by_workers()
    for what, given in (("parameters", parameters), ("states", states)):
        if given is not None and not isinstance(given, Iterable):
            raise TypeError(f"sweep: {what} are {given!r}, expected a list")
    items = list(parameters)
    count = len(items)
    if states is not None and not hasattr(states, "__len__"):
        states = list(states)
    if client is not None and not hasattr(client, "submit"):
        raise TypeError(f"sweep: client is {client!r}, expected a dask.distributed.Client")
    if states is not None and len(states) != count:
        raise InvalidModel(
            f"sweep: number of states is {len(states)}, expected {count} as of the parameters"
        )
    for what, number, least in (("shard_size", shard_size, 1), ("workers", workers, 1),
                                ("seed", seed, 0)):
        if number is None:
            continue
        if not isinstance(number, (int, np.integer)) or isinstance(number, bool):
            raise TypeError(f"sweep: {what} is {number!r}, expected a whole number from {least}")
        if number < least:
            raise InvalidModel(f"sweep: {what} is {number}, expected at least {least}")
    saved = Checkpoint(checkpoint, count, seed, [function, items, states])
    results = saved.load()
    todo = [k for k in range(count) if k not in results]
    workers = workers if workers is not None else os.cpu_count() or 1
    size = shard_size or max(1, min(256, len(todo) // (8 * workers) or 1))
    shards = [
        _Shard(part, [items[k] for k in part], part, seed)
        for part in (todo[k : k + size] for k in range(0, len(todo), size))
    ]
    bar = _Progress(count, progress, partial)
    failures: list[Failure] = []

    def done(shard: _Shard, values: list[Any], last: bool) -> _Shard | None:
        """Keeps results; items that raised are for another try, or have failed."""
        raised = [k for k, x in enumerate(values) if isinstance(x, _Raised)]
        good = {k: x for k, x in zip(shard.items, values) if not isinstance(x, _Raised)}
        results.update(good)
        saved.add(good.keys(), good.values())
        bar.show(results)
        if last:
            for k in raised:
                failed(shard.part([k]), values[k].error)
        return shard.part(raised) if raised and not last else None

    def failed(shard: _Shard, error: str) -> None:
        failures.append(Failure(shard.items, shard.parameters, shard.seeds, error))

    try:
        if client is not None:
            _on_dask(client, function, shards, states, done, failed)
        elif workers == 1 or len(shards) < 2:
            _here(function, shards, states, done)
        else:
            _expect_sendable(function)
            _on_cores(workers, function, shards, states, done, failed)
    finally:  # also where the user has interrupted it
        saved.save()
        bar.end()
    failures.sort(key=lambda f: f.items)
    return Sweep([results.get(k) for k in range(count)], failures)


def _expect_no_import_by_workers() -> None:
    """A process of a pool imports the program that made it, which must not sweep again there."""
    if getattr(current_process(), "_inheriting", False):
        raise RuntimeError(
            "sweep: program is imported by its own worker processes, expected the call below "
            "`if __name__ == '__main__':`"
        )


def _expect_sendable(function: Callable[..., Any]) -> None:
    """Other processes are told where a function is, not what it does."""
    try:
        pickle.dumps(function)
    except (AttributeError, TypeError, pickle.PicklingError) as error:
        raise TypeError(
            f"sweep: function is {getattr(function, '__qualname__', repr(function))}, expected one "
            f"of a module, which other processes import ({error}; workers=1 stays in this process)"
        ) from None


def _own_states(shard: _Shard, states: Any) -> Any:
    """Those of a shard alone, by item: what is sent."""
    return None if states is None else {k: states[k] for k in shard.items}


def _here(function: Any, shards: list[_Shard], states: Any, done: Any) -> None:
    for shard in shards:
        rest: _Shard | None = shard
        for attempt in range(TRIES):
            if rest is not None:
                rest = done(rest, _run_shard(function, rest, states), attempt == TRIES - 1)


def _on_cores(
    workers: int, function: Any, shards: list[_Shard], states: Any, done: Any, failed: Any
) -> None:
    """A pool of processes. One that is killed breaks the pool for all that run in it, of which one
    is to blame: each of these is then run alone."""
    waiting = [(shard, 0) for shard in shards]
    while waiting:
        suspects, waiting = _in_pool(workers, function, waiting, states, done)
        for shard in suspects:
            _alone(function, shard, states, done, failed)


def _pool(workers: int) -> ProcessPoolExecutor:
    # Not forked: a fork has the locks of threads that it does not have.
    return ProcessPoolExecutor(workers, mp_context=get_context("spawn"))


#: A shard, and how often it was tried.
_Tried = tuple[_Shard, int]


def _in_pool(
    workers: int, function: Any, shards: list[_Tried], states: Any, done: Any
) -> tuple[list[_Shard], list[_Tried]]:
    """Shards that ran when the pool broke, and those that are still to be run."""
    suspects: list[_Shard] = []
    queue = deque(shards)
    running: dict[Future[Any], _Tried] = {}
    with _pool(workers) as pool:

        def feed() -> None:
            if not queue:
                return
            shard, tried = queue.popleft()
            try:
                future = pool.submit(_run_shard, function, shard, _own_states(shard, states))
            except BrokenProcessPool:  # before any of its shards told
                queue.appendleft((shard, tried))
            else:
                running[future] = shard, tried

        for _ in range(2 * workers):  # a few for each worker: nobody waits, and little is lost
            feed()
        while running:
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                shard, tried = running.pop(future)
                try:
                    values = future.result()
                except BrokenProcessPool:
                    suspects.append(shard)
                else:
                    rest = done(shard, values, tried == TRIES - 1)
                    if rest is not None:
                        queue.append((rest, tried + 1))
                if not suspects:
                    feed()
    return suspects, list(queue)


def _alone(function: Any, shard: _Shard, states: Any, done: Any, failed: Any) -> None:
    """A shard in a process of its own, until it has been tried often enough."""
    for attempt in range(TRIES):
        last = attempt == TRIES - 1
        rest: _Shard | None = shard
        with _pool(1) as pool:
            try:
                future = pool.submit(_run_shard, function, shard, _own_states(shard, states))
                rest = done(shard, future.result(), last)
            except BrokenProcessPool:
                if last:
                    failed(shard, "sweep: worker process is gone, expected a result (killed, or "
                                  "crashed)")
        if rest is None:
            return
        shard = rest


def _on_dask(
    client: Any, function: Any, shards: list[_Shard], states: Any, done: Any, failed: Any
) -> None:
    from distributed import as_completed

    tried = {id(shard): 0 for shard in shards}

    def submit(shard: _Shard) -> Any:
        # pure=False: a shard that is run again is not taken for the one that failed. The scheduler
        # itself runs again what a killed worker had.
        return client.submit(
            _run_shard, function, shard, _own_states(shard, states), pure=False, retries=0
        )

    running = {}
    for shard in shards:
        future = submit(shard)
        running[future.key] = (future, shard)
    queue = as_completed([future for future, _ in running.values()])
    for future in queue:
        _, shard = running.pop(future.key)
        times = tried.pop(id(shard)) + 1
        if future.status == "finished":
            shard = done(shard, future.result(), times == TRIES)
            if shard is None:
                continue
        elif times == TRIES:
            error = future.exception() if future.status == "error" else future.status
            failed(shard, str(error))
            continue
        tried[id(shard)] = times
        again = submit(shard)
        running[again.key] = (again, shard)
        queue.add(again)
