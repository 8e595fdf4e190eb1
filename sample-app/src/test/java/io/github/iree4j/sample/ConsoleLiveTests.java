package io.github.iree4j.sample;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.Timeline;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.Keys;
import org.springframework.beans.factory.annotation.Autowired;

/** The console in a browser: the running sample, under load. */
class ConsoleLiveTests extends ConsoleTests {

    @Autowired
    private IreeRuntime runtime;

    @Test
    void showsTheSampleUnderLoad() {
        openLive();
        choose("live-interval", "0.5");
        try (Load _ = new Load()) {
            browser.until("window.ireeConsole.live.polls > 12");
            browser.until("/[1-9]/.test(document.querySelector('#live-tiles div:nth-child(4) dd').textContent)");
            assertThat(browser.text("#live-queues")).contains("local/0").contains("/s");
            assertThat(browser.text("#live-programs"))
                    .contains("digits")
                    .contains("scans")
                    .contains("ready");
            assertThat(browser.text("#live-memory")).contains("in use").contains("kept for reuse");
            assertThat(browser.text("#live-events")).contains("digits:1");
            assertThat(browser.text("#live-devices")).contains(" worker");
            browser.until("/[1-9].*at once/.test(document.querySelector('#live-tiles div:nth-child(1)').textContent)");
            assertThat(browser.text("#live-tiles")).contains("at once, ").contains(" now");
            browser.until("document.querySelector('#live-functions').textContent.includes('digits.')");
            assertThat(browser.text("#live-functions")).contains("measured");
            browser.picture("live");
            browser.assertAccessible("Live");
        }
    }

    @Test
    void queuesAreUnderTheirMachinesIfThereAreSeveral() {
        openLive();
        assertThat(browser.eval("getComputedStyle(document.querySelector('#live-queues .machine > h3')).display"))
                .as("of one machine")
                .isEqualTo("none");
        browser.eval("""
                (() => {
                  const live = window.ireeConsole.live;
                  const now = structuredClone(live.latest);
                  now.queues.push({ ...now.queues[0], name: 'local@m1.s2/0', machine: now.machine + 1 });
                  live.queues.show(now, () => 1, live.history);
                })()""");
        assertThat(texts("#live-queues .machine > h3")).containsExactly("machine 0, this node", "machine 1");
        assertThat(texts("#live-queues .machine:last-child .queue-head"))
                .singleElement()
                .asString()
                .contains("local@m1.s2/0");
        browser.picture("live-machines");
        browser.assertAccessible("queues of two machines");
    }

    @Test
    void ofFewCallsTheSlowestIsShownAndNoPercentile() throws Exception {
        openLive();
        browser.eval("""
                (() => {
                  const { live } = window.ireeConsole;
                  const calls = (ended, measured, p99) => ({ ended, failed: ended === 3 ? 1 : 0, measured, median: measured ? 'PT0.002S' : null, p99, slowest: measured ? 'PT0.009S' : null });
                  const functions = [{ name: 'few', calls: calls(3, 3, null) }, { name: 'many', calls: calls(5000, 1024, 'PT0.008S') }, { name: 'idle', calls: calls(7, 0, null) }, { name: 'never', calls: calls(0, 0, null) }];
                  live.functions.show({ modules: [{ name: 'm', versions: [{ version: '1', functions }] }] }, '');
                })()""");
        assertThat(texts("#live-functions tbody tr"))
                .containsExactly(
                        "m.few33 measured1 failed2.0 msslowest 9.0 ms",
                        "m.many5\u202f0001\u202f024 measured2.0 ms8.0 ms",
                        "m.idle70 measured\u2013\u2013");
    }

    /** Two barriers, one behind the other, in a wait for value 9 of a timeline, as Live lists them. */
    private final class Hang implements AutoCloseable {
        final Timeline timeline;
        private final Timeline next = runtime.createTimeline();

        Hang(String name) {
            timeline = runtime.createTimeline(name);
            try (Fence never = timeline.at(9);
                    Fence between = next.at(1)) {
                runtime.device().queue(0).barrier(never, between, 0);
                runtime.device().queue(0).barrier(between, null, 0);
            }
            openLive();
            browser.until("document.querySelectorAll('#live-waiting li .number').length > 1");
        }

        @Override
        public void close() {
            timeline.close();
            next.close();
        }
    }

    @Test
    void showsWaitersWithTheirWaits() {
        try (Hang hang = new Hang("")) {
            assertThat(browser.text("#live-waiting"))
                    .contains("barrier")
                    .contains("0 \u2192 9")
                    .contains("no submitted operation that can run signals it")
                    .contains("barrier of", "will signal it, and waits too")
                    .contains("2 operations and 0 calls wait");
            assertThat(texts("#live-waiting .bad")).hasSize(1);
            assertThat(browser.text("#live-taint")).contains("timeline");
            browser.picture("live-waiting");
            browser.assertAccessible("waiting operations");
            hang.timeline.semaphore().signal(9);
            browser.until("document.querySelector('#live-waiting .sentence').textContent.startsWith('Nothing waits')");
        }
    }

    @Test
    void aProblemIsACardWithTheChainToTheMissingSignal() {
        try (Hang hang = new Hang("upload-finished")) {
            assertThat(browser.text("#live-waiting"))
                    .contains("\u201cupload-finished\u201d 0 \u2192 9")
                    .contains("\u201cupload-finished\u201d is signalled by nothing that was submitted");
            assertThat(browser.text("#live-taint")).contains("\u201cupload-finished\u201d at 0");
            assertThat(browser.find("#live-problems").isDisplayed()).isFalse();
            browser.click("#live-pause");
            // As the watchdog reports after some time.
            browser.await("""
                    import(new URL('model/problems.js', document.baseURI)).then(({ problemsOf }) => {
                      const { live } = window.ireeConsole;
                      const links = ['barrier on local/0', "timeline 3 at 1", 'barrier on local/0', "timeline 2 'upload-finished' at 9"];
                      const found = { kind: 'unsignalled-fence', subject: `timeline 2 'upload-finished'`, summary: 'it hangs', age: 12e9, links, chain: ['barrier waits'], remedy: 'signal it' };
                      window.showProblems = (given) => live.problems.update(problemsOf(given));
                      window.showProblems([found, { ...found, kind: 'lost-device', subject: 'local', summary: 'it is lost', age: 0, links: [], chain: [] }]);
                    })""");
            assertThat(texts(".problem")).hasSize(2);
            assertThat(browser.text(".problem"))
                    .contains("unsignalled fence", "for 12.0 s", "it hangs", "What to do: signal it");
            assertThat(texts(".problem .links li"))
                    .hasSize(4)
                    .startsWith("barrier on local/0")
                    .endsWith("timeline 2 'upload-finished' at 9");
            assertThat(texts(".problem .missing")).containsExactly("timeline 2 'upload-finished' at 9");
            browser.picture("live-problems");
            browser.assertAccessible("problems");
            browser.eval(
                    "(() => { const found = { kind: 'unsignalled-fence', summary: 'a', chain: ['b'], remedy: 'c' };"
                            + " window.showProblems([{ ...found, age: 1e9 }]); document.querySelector('.problem summary').focus();"
                            + " window.showProblems([{ ...found, age: 2e9 }]); })()");
            assertThat(browser.text(".problem .number")).isEqualTo("for 2.0 s");
            assertThat(browser.eval("document.activeElement.tagName"))
                    .as("the focus")
                    .isEqualTo("SUMMARY");
            hang.timeline.semaphore().signal(9);
        }
    }

    /** The cause of a program's wait may be work of another program, or of none. */
    @Test
    void theFilterByProgramKeepsTheSignallersOfTheProgramsWaits() {
        openLive();
        assertThat(browser.await("""
                        await (async () => {
                          const { waitersOf, withCauses } = await import('./model/wait-chain.js');
                          const wait = (timeline, signaller) => ({ timeline, value: 1, reached: 0, promised: false, inFlight: [], signaller });
                          const on = (operation) => ({ queue: 'q', operation, call: 0 });
                          const op = (operation, program, waits, signals) => ({ queue: 'q', operation, program, waits, signals });
                          const all = waitersOf({ timelines: {
                            operations: [
                              op('copy', 'other', [wait(7, null)], [{ timeline: 8, value: 1 }]),
                              op('fill', '', [wait(8, on('copy'))], [{ timeline: 9, value: 1 }]),
                              op('fill', '', [wait(7, null)], [{ timeline: 10, value: 1 }]),
                              op('stranger', 'other', [wait(7, null)], []),
                            ],
                            calls: [
                              { id: 1, program: 'mine', waits: [wait(9, on('fill')), wait(11, { ...on(''), call: 3 })] },
                              { id: 2, program: 'other', waits: [] },
                              { id: 3, program: 'third', waits: [] },
                            ],
                          } });
                          const names = (list) => list.map(({ given }) => given.operation ?? given.program).join();
                          return names(withCauses(all, 'mine'));
                        })()""")).isEqualTo("copy,fill,mine,third");
    }

    @Test
    void pollsOnlyWhileLookedAt() {
        openLive();
        browser.type(" ");
        assertThat(browser.text("#live-pause")).isEqualTo("Continue");
        assertPollsStop();
        browser.type(" ");
        long polls = polls();
        browser.until("window.ireeConsole.live.polls > " + polls);
        browser.type("1");
        browser.until("document.title.startsWith('Explore')");
        assertPollsStop();
    }

    /** No request is sent, though time goes on for the page. */
    private static void assertPollsStop() {
        browser.until("window.ireeConsole.live.timer !== undefined");
        browser.await("new Promise((done) => setTimeout(() => done(true), 300))");
        long polls = polls();
        browser.await("new Promise((done) => setTimeout(() => done(true), 2500))");
        assertThat(polls()).isEqualTo(polls);
    }

    private static long polls() {
        return ((Number) browser.eval("window.ireeConsole.live.polls")).longValue();
    }

    /** Counters and lists are of different moments. */
    @Test
    void theSentenceCountsNoLessThanTheList() {
        openLive();
        browser.type(" ");
        browser.eval("""
                (() => {
                  const live = window.ireeConsole.live;
                  const now = structuredClone(live.latest);
                  now.timelines.waiting = 0;
                  now.timelines.calls = [];
                  now.timelines.operations = [{ queue: 'local/0', operation: 'dealloca', since: 'PT0.1S', waits: [], waitsFor: ['timeline 1 at 1'] }];
                  live.waiting.show(now, () => 1, '');
                })()""");
        assertThat(browser.text("#live-waiting .sentence")).isEqualTo("1 operation and 0 calls wait.");
    }

    /** Another process counts events anew. */
    @Test
    void eventsOfARestartedServerAreShown() {
        openLive();
        choose("live-interval", "0.5");
        browser.until("window.ireeConsole.live.history.samples.length > 2");
        browser.eval("""
                (() => {
                  const { live } = window.ireeConsole;
                  live.events.clear();
                  live.events.add([{ id: 4711, time: '2001-01-01T00:00:00Z', subject: 'gone:1', message: 'of the one before' }]);
                  live.cursor = 4711;
                })()""");
        browser.until("window.ireeConsole.live.events.last?.id < 4711");
        browser.until("document.getElementById('live-events').textContent.includes('digits:1')");
        assertThat(browser.text("#live-events")).doesNotContain("gone:1");
        long events = (Long) browser.eval("window.ireeConsole.live.events.events.length");
        long polls = polls();
        browser.until("window.ireeConsole.live.polls > " + polls + " + 1");
        assertThat(browser.eval("window.ireeConsole.live.events.events.length")).isEqualTo(events);
    }

    @Test
    void filtersByProgram() {
        openLive();
        choose("live-program", "scans");
        assertThat(browser.text("#live-programs")).contains("scans").doesNotContain("digits");
        assertThat(browser.text("#live-events")).contains("scans:1").doesNotContain("digits:1");
        assertThat(browser.address()).contains("program=scans");
    }

    @Test
    void opensPolledDataInExplore() {
        openLive();
        try (Load _ = new Load()) {
            browser.until("window.ireeConsole.live.polls > 4");
        }
        browser.click("#live-export");
        browser.until("document.title.startsWith('Explore')");
        assertThat(browser.text("#description")).contains("polled");
        assertThat((Long) browser.eval("window.ireeConsole.explore.schedule.operations.length"))
                .isPositive();
        browser.type(Keys.END);
        assertThat(texts(".invariants li")).as("polled data breaks no rule").isEmpty();
        assertThat(browser.text("#faults-box")).contains("No rule is checked");
        browser.picture("explore-snapshot");
        browser.assertAccessible("an exported snapshot");
    }

    /** Has requests for paths with a part wait for a promise. */
    private static void delay(String part, String promise) {
        browser.eval("""
                (() => {
                  const { fetch } = window;
                  window.fetch = async (url, options) => {
                    if (String(url).includes('%s')) await %s;
                    return fetch(url, options);
                  };
                })()""".formatted(part, promise));
    }

    @Test
    void opensInExploreOnAClickBeforeTheFirstAnswer() {
        open("");
        delay("/live", "new Promise((answer) => (window.answer = answer))");
        browser.click("#live-tab");
        browser.click("#live-export");
        assertThat(browser.text("#live-export")).isEqualTo("Opening\u2026");
        assertThat(browser.find("#live-export").getDomAttribute("aria-busy")).isEqualTo("true");
        browser.picture("live-opening");
        browser.until("window.answer !== undefined");
        browser.eval("window.answer()");
        browser.until("document.title.startsWith('Explore')");
        assertThat(browser.text("#description")).contains("polled");
        assertThat(browser.eval("document.getElementById('live-export').textContent"))
                .isEqualTo("Open in Explore");
    }

    @Test
    void fitsIntoFourHundredPixelsInTheDark() {
        browser.preferDark(true);
        browser.resize(400, 800);
        openLive();
        assertThat(browser.eval("document.documentElement.scrollWidth <= 400")).isEqualTo(true);
        browser.picture("live-narrow-dark");
        browser.assertAccessible("Live in 400 pixels and in the dark");
    }

    /** Memory taken and given back by a program between two answers is in no instant. */
    @Test
    void theChartOfMemoryHasTheMostAtOnce() {
        openLive();
        browser.click("#live-pause");
        browser.eval("""
                (() => {
                  const { live } = window.ireeConsole;
                  const [pool] = live.latest.pools;
                  const now = structuredClone(live.latest);
                  now.time = new Date(Date.parse(now.time) + 1000).toISOString();
                  now.peaks.memory = [{ device: pool.device, live: 3 * 2 ** 40 }];
                  live.history.add(now);
                  live.draw();
                })()""");
        assertThat(browser.find("#live-memory canvas.chart").getDomAttribute("aria-label"))
                .contains("at most 3.0 TiB at once, now ");
        assertThat(texts("#live-memory .legend .key")).contains("more at once, between two answers");
        assertThat(browser.find("#live-tiles").getDomAttribute("title"))
                .endsWith(", or their sum now if that is more.");
    }

    @Test
    void oldFailuresAreNotAlarmingAndSlabsOfAPoolHaveNumbers() {
        openLive();
        assertThat(browser.await("""
                        await (async () => {
                          const { QueuesPanel } = await import('./view/live-panels.js');
                          const { History } = await import('./model/history.js');
                          const panel = new QueuesPanel(document.createElement('div'));
                          const history = new History();
                          const decisions = { reached: 1, elidedByFifo: 0, elidedByFrontier: 0, covered: 0, deviceWaits: 0, deferred: 3 };
                          const said = [];
                          for (const [i, failed] of [255, 255, 257].entries()) {
                            const queue = { name: 'q', machine: 0, inFlight: 1, pending: 0, retired: 9, failed, decisions, heldBack: 1180 };
                            const live = { time: new Date(1e12 + 1000 * i).toISOString(), machine: 0, queues: [queue], pools: [], peaks: { queues: [{ name: 'q', inFlight: 4, pending: 2 }], memory: [] }, activeCalls: 0, frontiers: { queues: [] } };
                            history.add(live);
                            panel.show(live, () => 0, history);
                            const row = panel.rows.get('q');
                            said.push(`${row.failed.className}: ${row.failed.textContent}`);
                            if (i === 0) said.push(row.numbers.textContent, row.waits.textContent);
                          }
                          return said.join('|');
                        })()"""))
                .isEqualTo("muted: 255 failed in all, none lately|4 operations in flight at once, 2 pending, 0 /s"
                        + "|4 waits, 25 % free; held back 19.7 min, summed over operations"
                        + "|muted: 255 failed in all, none lately|bad: 2 failed lately, 257 in all");
        assertThat(browser.await("""
                        await (async () => {
                          const { namesOf } = await import('./view/memory-map.js');
                          return namesOf([{ pool: 'a' }, { pool: 'b' }, { pool: 'a' }]).join('|');
                        })()""")).isEqualTo("a 1:|b|a 2:");
    }
}
