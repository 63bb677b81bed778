'use strict';
// A run as JUnit XML in the form that Flakeboard's reader understands: a suite a file, attempts as Surefire writes them, and
// the order of execution where the clock shows that nothing ran side by side.

const fs = require('fs');
const path = require('path');

const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const ANSI = /\u001b\[[0-9;]*[A-Za-z]/g;
const MARKUP = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\n': '&#10;', '\r': '&#13;', '\t': '&#9;' };

function legal(text) {
  return String(text).replace(ANSI, '').replace(FORBIDDEN, '\ufffd');
}

function attribute(text) {
  return legal(text).replace(/[&<>"\n\r\t]/g, (letter) => MARKUP[letter]);
}

function content(text) {
  return legal(text).replace(/[&<>]/g, (letter) => MARKUP[letter]);
}

function tag(name, attributes, close) {
  const pairs = Object.entries(attributes).filter(([, value]) => value !== undefined && value !== null && value !== '');
  return `<${name}${pairs.map(([key, value]) => ` ${key}="${attribute(value)}"`).join('')}${close ? '/' : ''}>`;
}

function seconds(milliseconds) {
  return Number.isFinite(milliseconds) && milliseconds >= 0 ? (milliseconds / 1000).toFixed(6) : undefined;
}

// A failure from whatever was thrown: an Error, its serialised form, or a text with a stack.
function failureOf(thrown) {
  const text = typeof thrown === 'string' ? thrown : String((thrown && (thrown.stack || thrown.message)) || thrown);
  const plain = legal(text);
  const message = legal((thrown && thrown.message) || plain.split('\n', 1)[0]).slice(0, 2000);
  const named = /^([A-Za-z_$][\w$.]{0,99}(?:Error|Exception))\b/.exec(plain);
  return { type: (thrown && thrown.name) || (named ? named[1] : 'Error'), message, text: plain };
}

// Files of an attempt as Jenkins and Playwright name them in output: `flakeboard --attach reported` sends them.
function output(paths) {
  const marks = (paths || []).map((name) => `[[ATTACHMENT|${name.replace(/[\]\r\n]/g, '_')}]]`);
  return marks.length ? `<system-out>${content(marks.join('\n'))}</system-out>` : '';
}

function failureTag(name, failure, time, inside = '') {
  return `${tag(name, { message: failure.message, type: failure.type, time })}${content(failure.text)}${inside}</${name}>`;
}

// attempts: [{outcome: 'passed' | 'failed' | 'skipped', milliseconds, failures, attachments}], the last one decides.
function endings(attempts) {
  const last = attempts[attempts.length - 1];
  const retried = (prefix, some) =>
    some
      .filter((attempt) => attempt.outcome === 'failed')
      .map((attempt) => failureTag(prefix, attempt.failures[0], seconds(attempt.milliseconds), output(attempt.attachments)));
  if (last.outcome !== 'failed') {
    const skipped = last.outcome === 'skipped' ? ['<skipped/>'] : [];
    return [...retried('flakyFailure', attempts.slice(0, -1)), ...skipped];
  }
  const [first, ...later] = attempts.filter((attempt) => attempt.outcome === 'failed');
  const failures = first.failures.map((failure) => failureTag('failure', failure));
  return [...failures, ...retried('rerunFailure', later), output(first.attachments)];
}

class Report {
  constructor(runner, options) {
    this.runner = runner;
    this.root = process.cwd();
    const given = (options && options.outputFile) || process.env.FLAKEBOARD_REPORT_FILE || 'flakeboard-report.xml';
    this.path = path.resolve(this.root, given);
    this.tests = [];
    this.errors = [];
    this.isSerial = true;
  }

  file(name) {
    return name ? path.relative(this.root, name).split(path.sep).join('/') : '';
  }

  // test: {file, titles, line, started, attempts}; `started` is of the last attempt, in milliseconds since 1970.
  add(test) {
    for (const attempt of test.attempts) {
      if (attempt.outcome === 'failed' && !(attempt.failures && attempt.failures.length)) {
        attempt.failures = [failureOf('failed without a message')];
      }
      attempt.attachments = (attempt.attachments || []).map((name) => this.file(name));
    }
    this.tests.push({ ...test, file: this.file(test.file) });
  }

  // What failed besides tests: a file that does not load, a hook. It blocks, whatever is quarantined.
  addError(file, thrown) {
    this.errors.push({ file: this.file(file), failure: failureOf(thrown) });
  }

  // Whether no two tests overlapped; the runners' clocks count in milliseconds.
  ranInOrder(tests) {
    let end = -Infinity;
    return tests.every((test) => {
      const last = test.attempts[test.attempts.length - 1];
      const before = end;
      end = Math.max(end, test.started + (last.milliseconds || 0));
      return Number.isFinite(test.started) && test.started >= before - 2;
    });
  }

  document() {
    const ran = this.tests.filter((test) => test.attempts.some((attempt) => attempt.outcome !== 'skipped'));
    const serial = this.isSerial && this.ranInOrder(ran.slice().sort((a, b) => a.started - b.started));
    const start = new Map();
    for (const test of ran) start.set(test.file, Math.min(start.has(test.file) ? start.get(test.file) : Infinity, test.started));
    const files = [...new Set([...this.tests, ...this.errors].map((each) => each.file))];
    files.sort((a, b) => (start.has(a) ? start.get(a) : Infinity) - (start.has(b) ? start.get(b) : Infinity));
    const suites = files.map((file) => this.suite(file, serial, start.get(file)));
    return ['<?xml version="1.0" encoding="utf-8"?>', `<testsuites name="flakeboard ${this.runner}">`, ...suites, '</testsuites>', ''].join('\n');
  }

  suite(file, serial, started) {
    const tests = this.tests.filter((test) => test.file === file);
    const key = (test) => (Number.isFinite(test.started) ? test.started : Infinity);
    if (serial) tests.sort((a, b) => key(a) - key(b) || 0);
    const errors = this.errors.filter((error) => error.file === file);
    const ended = (outcome) => tests.filter((test) => test.attempts[test.attempts.length - 1].outcome === outcome).length;
    const timestamp = Number.isFinite(started) ? new Date(started).toISOString() : undefined;
    const counts = { tests: tests.length, failures: ended('failed'), errors: errors.length, skipped: ended('skipped') };
    return [
      tag('testsuite', { name: file, ...counts, timestamp }),
      ...(serial ? ['<properties>', tag('property', { name: 'flakeboard.order', value: 'executed' }, true), '</properties>'] : []),
      ...errors.map((error) => failureTag('error', error.failure)),
      ...tests.map((test) => this.case(test)),
      '</testsuite>',
    ].join('\n');
  }

  case(test) {
    const last = test.attempts[test.attempts.length - 1];
    const classname = test.project ? `[${test.project}] ${test.file}` : test.file;
    const name = test.titles.join(' > ');
    const head = tag('testcase', { classname, name, time: seconds(last.milliseconds), file: test.file, line: test.line });
    return `${head}${endings(test.attempts).join('')}</testcase>`;
  }

  // The whole file or none: half a report is worse than none.
  write() {
    fs.mkdirSync(path.dirname(this.path), { recursive: true });
    fs.writeFileSync(`${this.path}.part`, this.document(), 'utf8');
    fs.renameSync(`${this.path}.part`, this.path);
    this.leaveNote();
  }

  // Tells `flakeboard run`, which may have started us through scripts, where the report is.
  leaveNote() {
    const folder = process.env.FLAKEBOARD_RUN_NOTES;
    if (!folder) return;
    const name = path.join(folder, `npm-${process.pid}-${Date.now()}`);
    try {
      fs.writeFileSync(`${name}.part`, JSON.stringify({ reporter: this.runner, reports: [this.path] }), 'utf8');
      fs.renameSync(`${name}.part`, `${name}.json`);
    } catch (error) {
      process.stderr.write(`flakeboard: the note for \`flakeboard run\` could not be written: ${error.message}\n`);
    }
  }
}

module.exports = { Report, failureOf };
