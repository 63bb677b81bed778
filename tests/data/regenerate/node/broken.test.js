require('./a-module-that-does-not-exist');
