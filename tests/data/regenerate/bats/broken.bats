setup_file() {
  echo "no database"
  false
}

@test "first" {
  true
}

@test "second" {
  true
}
