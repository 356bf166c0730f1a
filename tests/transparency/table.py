"""tests/transparency/table.py - the results as a table of Markdown."""
import datetime
import os
import re


def exceptions(case):
    """What is not compared as it is, and why, in words."""
    words = [f"{skip.what} not compared: {skip.why}" for skip in case.skips]
    words += [blur.why for blur in case.blurs]
    words += [f"{key}: {why}" for key, why in case.allowed.items()]
    words += [f"{name} is not recorded: {why}" for name, why in case.strangers.items()]
    if case.views:
        words.append("of " + ", ".join(case.views) + " the outcomes alone: it holds times")
    return list(dict.fromkeys([*words, *case.notes]))


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = re.search(r"model name\s*: (.*)", file.read())
    with open("/etc/os-release", encoding="utf-8") as file:
        system = re.search(r'PRETTY_NAME="(.*)"', file.read())
    return (f"{model[1] if model else 'unknown processor'}, {os.cpu_count()} cores, "
            f"{system[1] if system else 'unknown system'}, Linux {os.uname().release}, "
            f"load average {os.getloadavg()[0]:.1f}")


def markdown(results, repeat):
    say = (f"{datetime.date.today()}, {machine()}. Shortest of {repeat}, in turn; CPU is that of all "
           "processes, the collector's included.\n\n")
    head = ("| case | events | processes | things compared | plain wall, CPU (s) "
            "| recorded wall, CPU (s) | wall × |")
    lines = [head, "|---|--:|--:|--:|--:|--:|--:|"]
    for result in results:
        plain, recorded = result["plain"], result["recorded"]
        lines.append(f"| {result['name']} | {result['events']:,} | {result['processes']:,} "
                     f"| {result['compared']:,} | {plain[0]:.2f}, {plain[1]:.2f} "
                     f"| {recorded[0]:.2f}, {recorded[1]:.2f} "
                     f"| {recorded[0] / plain[0]:.2f} |")
    named = {}
    for result in results:
        named.setdefault("; ".join(result["exceptions"]), []).append(result["name"])
    notes = [f"- {', '.join(names)}: {words}" for words, names in named.items() if words]
    return say + "\n".join(lines) + "\n\nExcepted from the comparison:\n\n" + "\n".join(notes)
