attempt() {
  printf . >>"$ATTEMPTS/$1"
  wc -c <"$ATTEMPTS/$1"
}

@test "pass" {
  [ $((1 + 1)) -eq 2 ]
}

@test "fail with <b> & ü✓🧪" {
  echo "printed before the failure <b> & ]]>"
  [ $((1 + 1)) -eq 3 ]
}

@test "command not found" {
  a-program-that-does-not-exist
}

@test "skip" {
  skip "not today"
}

@test "skip without reason" {
  skip
}

@test "passes at third attempt" {
  BATS_TEST_RETRIES=2
  [ "$(attempt third)" -ge 3 ]
}

@test "always fails" {
  BATS_TEST_RETRIES=2
  n=$(attempt always)
  echo "attempt $n of always"
  false
}
