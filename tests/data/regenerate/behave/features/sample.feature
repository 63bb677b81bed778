Feature: Sample feature <b> & ü✓🧪

  Scenario: Pass
    Given a step that passes

  Scenario: Fail
    Given a step that passes
    When a step fails
    Then a step that passes

  Scenario: Error
    Given a step raises an error

  Scenario: Undefined
    Given a step that nobody wrote

  @skip
  Scenario: Skip by tag
    Given a step fails

  Scenario: Skip inside
    Given a step skips the scenario

  Scenario Outline: Outline
    Given the number <number>

    Examples: Numbers
      | number |
      | 1      |
      | 2      |

  Scenario: Twin
    Given a step that passes

  Rule: A rule
    Scenario: Pass
      Given a step that passes
