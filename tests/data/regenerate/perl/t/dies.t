use Test::More;

ok 1, 'before the end';
die 'boom';
