use utf8;
use Test::More;
binmode Test::More->builder->$_, ':encoding(UTF-8)' for qw(output failure_output todo_output);

ok 1, 'pass';
ok 0, 'fail with <b> & ]]>';
is 'a', 'b', 'is with ü✓🧪';
ok 1;
ok 1, 'twin';
ok 0, 'twin';
SKIP: { skip 'not today', 1; }
TODO: { local $TODO = 'known bug'; ok 0, 'todo that fails'; }
TODO: { local $TODO = 'known bug'; ok 1, 'todo that passes'; }
subtest 'group' => sub {
    ok 1, 'inner pass';
    ok 0, 'inner fail';
};
done_testing;
