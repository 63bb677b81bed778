Feature: Sample feature <b> & ü✓🧪

  Scenario: Pass
    Given a step that passes

  Scenario: Fail
    Given a step that passes
    When a step fails
    Then a step that passes

  Scenario: Undefined
    Given a step that nobody wrote

  Scenario: Pending
    Given a pending step

  Scenario: Skip inside
    Given a skipped step

  Scenario Outline: Outline
    Given the number <number>

    Examples: Numbers
      | number |
      | 1      |
      | 2      |

  Scenario: Passes at third attempt
    Given attempt 3 of "third"

  Scenario: Always fails
    Given attempt 99 of "always"

  Rule: A rule
    Scenario: Pass
      Given a step that passes
