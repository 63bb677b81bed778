require('./a-module-that-does-not-exist');

test('never runs', () => {});
