import assert from 'node:assert/strict';
import {test} from 'node:test';
import {levels, untested, without} from './src/claims.js';

test('each reason is said once', () => {
  assert.equal(without([{what: 'docker/aufs', reason: 'no aufs'}, {what: 'sarus', reason: 'not installed'}, {what: 'podman/aufs', reason: 'no aufs'}, {what: 'docker/aufs', reason: 'no aufs'}]),
    'docker/aufs, podman/aufs (no aufs); sarus (not installed)');
  assert.equal(without([{what: 'a, b', reason: 'x'}, {what: 'workload c, size 2', reason: 'x'}, {what: 'workload d, size 2', reason: 'x'}, {what: 'b', reason: 'x'}]),
    'a, b (x); workload c, size 2 (x); workload d, size 2 (x)');
});

test('an interval has the level that it was taken at', () => {
  assert.equal(levels([]), '95 %');
  assert.equal(levels([{}, {pairs: [{}, {level: 0}]}]), '95 %');
  assert.equal(levels([{pairs: [{level: 59 / 60}, {level: 59 / 60}]}]), '98.3 %');
  assert.equal(levels([{pairs: [{level: 59 / 60}, {}]}]), '95 % or 98.3 %');
});

test('what has no answer says why, once', () => {
  assert.deepEqual(untested([{verdict: 'supported', command: 'plimsoll run a'}, {verdict: 'not-tested'}]), []);
  assert.deepEqual(untested([{verdict: 'not-tested', command: 'plimsoll run a'}, {verdict: 'not-tested', command: 'plimsoll run a'}, {verdict: 'not-tested', failed: 'It is not here.'},
    {verdict: 'not-tested', failed: 'It is not here. (the step 1 ended with status 1)'}]),
    ['Not asked here. To ask: plimsoll run a', 'Not answered here, since every trial failed: It is not here.']);
});
