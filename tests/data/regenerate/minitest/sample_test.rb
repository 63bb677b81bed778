require 'minitest/autorun'
require 'minitest/reporters'

Minitest::Reporters.use! [Minitest::Reporters::JUnitReporter.new('reports')]

class SampleTest < Minitest::Test
  def test_pass
    assert_equal 2, 1 + 1
  end

  def test_fail
    assert_equal({ 'a' => [1, 3] }, { 'a' => [1, 2] }, 'message with <b> & ]]>')
  end

  def test_error
    raise ArgumentError, 'boom'
  end

  def test_skip
    skip 'not today'
  end
end

class BrokenTeardownTest < Minitest::Test
  def teardown
    raise 'cannot clean up'
  end

  def test_fails_then_teardown_fails
    assert_equal 1, 2
  end
end
