*** Settings ***
Library    OperatingSystem

*** Test Cases ***
Pass
    Should Be Equal    ${1 + 1}    ${2}

Fail With <b> & ü✓🧪
    Log    logged before the failure
    Should Be Equal    one    two    message with <b> & ]]>

Several Failures
    [Template]    Should Be Equal
    one    one
    one    two
    three    four

Skip
    Skip    not today

Skip On Failure
    [Tags]    robot:skip-on-failure
    Fail    known bug

Broken Setup
    [Setup]    Fail    no database
    No Operation

Fail Then Teardown Fails
    Fail    body failed
    [Teardown]    Fail    cannot clean up

Passes At Second Attempt
    Attempt    second    2

Fails At Every Attempt
    Attempt    always    99

*** Keywords ***
Attempt
    [Arguments]    ${name}    ${needed}
    Append To File    %{ATTEMPTS}/${name}    .
    ${count} =    Get File Size    %{ATTEMPTS}/${name}
    Should Be True    ${count} >= ${needed}    attempt ${count} of ${name}
