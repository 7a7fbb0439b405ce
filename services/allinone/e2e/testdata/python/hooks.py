"""Keeps every request within the limits of its address, and within one business, so that it reaches what it asks for."""
import itertools
import os

import schemathesis

addresses = (f"10.{a}.{b}.{c}" for a, b, c in itertools.product(range(1, 250), repeat=3))


@schemathesis.hook
def before_call(context, case, kwargs):
    case.headers["X-Forwarded-For"] = next(addresses)
    if "slug" in (case.path_parameters or {}):
        case.path_parameters["slug"] = os.environ["SLUG"]


@schemathesis.hook
def filter_case(context, case):
    """An empty parameter of a query is the same as one that is left out."""
    return "" not in (case.query or {}).values()


@schemathesis.check
def no_fault_of_ours(ctx, response, case):
    """503 says that a part is away or that there was no time: a busy machine's, not a fault."""
    if response.status_code >= 500 and response.status_code != 503:
        raise AssertionError(f"{response.status_code}: {response.text}")
