"""Compares `toolkit cron next` in one zone with a brute force of the stated rule, and with cronsim.

Arguments: the program, the zone, a file with one expression a line, the first day and the day after the last one, which begin in UTC. The
result is a JSON object on standard output.

The brute force knows nothing of transitions. It looks at the wall clock at each minute of real time:
* where the minute or the hour begins with `*`, each minute at which the clock shows a fitting time is due;
* else, each fitting minute of the calendar is due at the first instant at which the clock shows it or has passed it.
"""

import importlib.metadata
import json
import subprocess
import sys
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

from cronsim import CronSim

START, END = (int(datetime.fromisoformat(day).replace(tzinfo=timezone.utc).timestamp()) // 60 for day in sys.argv[4:6])
BEFORE = datetime.fromtimestamp(START * 60 - 1, timezone.utc)
MARGIN = 2 * 24 * 60
RANGES = [(0, 59), (0, 23), (1, 31), (1, 12), (0, 7)]
MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
WEEKDAYS = "sun mon tue wed thu fri sat".split()
NICKNAMES = {"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@weekly": "0 0 * * 0", "@monthly": "0 0 1 * *"}
EPOCH = datetime(1970, 1, 1)


def value(text, field):
    text = text.lower()
    if field == 3 and text in MONTHS:
        return MONTHS.index(text) + 1
    if field == 4 and text in WEEKDAYS:
        return WEEKDAYS.index(text)
    return int(text)


def values(text, field):
    found = set()
    for part in text.split(","):
        part, _, step = part.partition("/")
        if part == "*":
            first, last = RANGES[field]
        elif "-" in part:
            first, last = (value(end, field) for end in part.split("-"))
        else:
            first = last = value(part, field)
        found.update(range(first, last + 1, int(step or 1)))
    return found


def wall_clock(zone):
    """The wall clock at each minute of real time, as minutes since 1970 on that clock."""
    shown = []
    for minute in range(START - MARGIN, END + MARGIN):
        local = datetime.fromtimestamp(minute * 60, zone).replace(tzinfo=None)
        assert local.second == 0
        shown.append((local - EPOCH) // timedelta(minutes=1))
    return shown


def by_rule(expression, shown):
    fields = NICKNAMES.get(expression, expression).split()
    sets = [values(text, field) for field, text in enumerate(fields)]
    weekdays = {day % 7 for day in sets[4]}
    either = not fields[2].startswith("*") and not fields[4].startswith("*")
    days = {}
    for day in range(min(shown) // 1440, max(shown) // 1440 + 1):
        date = EPOCH + timedelta(days=day)
        of_month, of_week = date.day in sets[2], date.isoweekday() % 7 in weekdays
        days[day] = date.month in sets[3] and ((of_month or of_week) if either else (of_month and of_week))
    times = [hour in sets[1] and minute in sets[0] for hour in range(24) for minute in range(60)]
    if fields[0].startswith("*") or fields[1].startswith("*"):
        due = [index for index, local in enumerate(shown) if times[local % 1440] and days[local // 1440]]
    else:
        due = []
        reached = shown[0] - 1
        for index, local in enumerate(shown):
            while reached < local:
                reached += 1
                if times[reached % 1440] and days[reached // 1440] and due[-1:] != [index]:
                    due.append(index)
    due = [START - MARGIN + index for index in due]
    return [minute for minute in due if START <= minute < END]


def by_program(program, zone, expression, count):
    command = [program, "cron", "next", expression, "--zone", zone, "--from", BEFORE.isoformat(), "--count", str(count)]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    instants = [datetime.fromisoformat(line) for line in lines]
    local = ZoneInfo(zone)
    for line, instant in zip(lines, instants):
        # The offset is that of the zone.
        assert line == instant.astimezone(local).isoformat(), line
    return [int(instant.timestamp()) // 60 for instant in instants]


def by_cronsim(expression, zone):
    due = []
    # It knows no nicknames.
    expression = NICKNAMES.get(expression, expression)
    for instant in CronSim(expression, BEFORE.astimezone(zone)):
        minute = int(instant.timestamp()) // 60
        if minute >= END:
            return due
        due.append(minute)
    return due


def show(minute, zone):
    return datetime.fromtimestamp(minute * 60, zone).isoformat()


def main():
    program, name, file = sys.argv[1:4]
    zone = ZoneInfo(name)
    shown = wall_clock(zone)
    report = {"tzdata": importlib.metadata.version("tzdata"), "expressions": 0, "times": 0, "wrong": [], "cronsim": []}
    for expression in open(file, encoding="utf-8").read().splitlines():
        rule = by_rule(expression, shown)
        # One more, which has to be after the last day, unless there is none at all.
        found = by_program(program, name, expression, len(rule) + 1)
        found = [minute for minute in found if minute < END]
        report["expressions"] += 1
        report["times"] += len(rule)
        if found != rule:
            first = sorted(set(found) ^ set(rule))[:3]
            report["wrong"].append([expression, len(found), len(rule), [show(minute, zone) for minute in first]])
        other = by_cronsim(expression, zone)
        if other != rule:
            only_there, only_here = sorted(set(other) - set(rule)), sorted(set(rule) - set(other))
            shown_there, shown_here = ([show(minute, zone) for minute in some[:4]] for some in (only_there, only_here))
            report["cronsim"].append([expression, len(only_there), len(only_here), shown_there, shown_here])
    print(json.dumps(report))


main()
