from behave import given, step


@step("a step that passes")
def passes(context):
    print("printed by a step")


@step("a step fails")
def fails(context):
    assert 1 + 1 == 3, "message with <b> & ]]>"


@given("a step raises an error")
def error(context):
    raise KeyError("missing")


@given("a step skips the scenario")
def skip(context):
    context.scenario.skip("not here")


@given("the number {number:d}")
def number(context, number):
    assert number == 1, f"{number} is not 1"
