use Test::More tests => 3;

ok 1, 'only one of three';
