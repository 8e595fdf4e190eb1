package io.github.iree4j.sample;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.spring.InvocationOperations;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.Keys;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.TestPropertySource;

/** The console in a browser: where the time of calls went. */
@TestPropertySource(properties = {"iree.recorder.enabled=true", "iree.recorder.dispatches=1"})
@DirtiesContext // a process has one recorder
class ConsoleCallsTests extends ConsoleTests {

    @Autowired
    private IreeRuntime runtime;

    @Autowired
    private InvocationOperations invocations;

    /** Opens Calls. */
    private void openCalls() {
        openAddress("?view=calls");
        browser.until("window.ireeConsole?.calls.trace");
    }

    /** Presses the mouse at a part of the width, moves, and releases. */
    private static void drag(double from, double to) {
        browser.eval("""
                (() => {
                  const canvas = document.querySelector('#calls-tracks canvas');
                  const box = canvas.getBoundingClientRect();
                  const send = (type, part) => canvas.dispatchEvent(new PointerEvent(type, { button: 0, buttons: 1, isPrimary: true, clientX: box.left + box.width * part, clientY: box.top + 12 }));
                  canvas.setPointerCapture = () => {};
                  send('pointerdown', %s);
                  send('pointermove', %s);
                  send('pointerup', %s);
                })()""".formatted(from, to, to));
    }

    @Test
    void showsTheSpentTimeOfCallsAndTheObstacleOfTheSlowest() throws Exception {
        readDigits(20);
        openCalls();
        assertThat(browser.text("#calls-about")).contains("operations of").contains("calls over");
        assertThat(browser.text("#calls-view"))
                .as("when calls end for their callers is not known to the recorder")
                .containsOnlyOnce("How these calls ended for their callers is not recorded");
        assertThat(texts("#calls-functions tbody th")).anyMatch(each -> each.contains("classify"));
        assertThat(Integer.parseInt(texts("#calls-functions td.number").getFirst()))
                .isGreaterThanOrEqualTo(20);
        assertThat(browser.find("#calls-problems").isDisplayed()).isFalse();
        browser.click("#calls-functions button");
        assertThat(browser.text("#calls-call")).contains("call ", "classify", "running", "Critical path");
        // A thread held up between two submissions begins the path of its call with the second.
        assertThat(texts("#calls-call .path").getFirst()).contains("began");
        assertThat(texts("#calls-call .path").getLast()).contains("execute");
        assertThat(texts("#calls-call .dispatches li"))
                .as("below the execution")
                .isNotEmpty()
                .allMatch(each ->
                        each.matches("[\\d.]+ .s digits_.* of \\d+×\\d+×\\d+, [\\d.]+ % of the time running.*"));
        assertThat(browser.eval("(() => { const { tracks, trace } = window.ireeConsole.calls;"
                        + " return tracks.path.size > 0 && tracks.to - tracks.from < trace.to - trace.from; })()"))
                .as("the path is lit, and in sight")
                .isEqualTo(true);
        browser.picture("calls");
        browser.assertAccessible("Calls");
        browser.preferDark(true);
        browser.picture("calls-dark");
        browser.assertAccessible("Calls in the dark");
        browser.resize(360, 900);
        assertThat(browser.eval("document.documentElement.scrollWidth <= innerWidth"))
                .as("nothing is wider than a small screen")
                .isEqualTo(true);
        browser.picture("calls-small");
    }

    @Test
    void aSlowCallLeadsToItsSlowestOperation() throws Exception {
        readDigits(20);
        Tensor pictures = Tensor.of(new float[(1 << 14) * 64], (1 << 14), 64);
        invocations
                .request("digits.classify")
                .inputs(pictures)
                .invokeAsync()
                .join()
                .close();
        open("");
        click("#calls-tab");
        browser.until("document.querySelectorAll('#calls-functions button').length > 0");
        click("#calls-functions button"); // the slowest of the function with the most time
        browser.until("document.querySelectorAll('#calls-call .path').length > 0");
        assertThat(browser.text("#calls-call")).contains("digits", "classify", "running");
        assertThat(texts("#calls-call .path").getLast()).contains("execute");
        Object slowest = browser.eval("window.ireeConsole.calls.trace.calls"
                + ".filter((each) => each.hasEnded && each.function === 'digits.classify')"
                + ".reduce((a, b) => (b.end - b.start > a.end - a.start ? b : a)).number");
        assertThat(texts("#calls-call .operation-title").getFirst().replaceAll("\\D", ""))
                .isEqualTo(slowest.toString());
        assertThat(texts("#calls-call .dispatches li"))
                .as("the exports of kernels")
                .anyMatch(each -> each.matches("[\\d.]+ .?s digits_\\w+ of .*% of the time running.*"));
        assertThat(clicks).isLessThanOrEqualTo(3);
        browser.picture("cause-slow");
    }

    @Test
    void aSpanIsMeasuredByDraggingAndZoomed() throws Exception {
        readDigits(5);
        openCalls();
        browser.click("#calls-functions button"); // its time is in sight, and something runs
        browser.until("window.ireeConsole.calls.tracks.perUnit > 0");
        browser.until("window.ireeConsole.calls.tracks.frame === 0");
        drag(0.02, 0.98);
        assertThat(browser.text("#calls-measure"))
                .containsPattern("[\\d.]+ .?s: \\d+ operations?, all together .* running");
        browser.click("#calls-zoom");
        assertThat(browser.eval("(() => { const { tracks } = window.ireeConsole.calls;"
                        + " return Math.abs(tracks.to - tracks.from - (tracks.span.to - tracks.span.from)) < 1; })()"))
                .isEqualTo(true);
        browser.eval("document.activeElement.blur()");
        browser.type(Keys.ESCAPE);
        assertThat(browser.text("#calls-measure")).isEmpty();
    }

    @Test
    void operationsAreFoundByTheirKnownPropertiesAndTracksAreChosen() throws Exception {
        readDigits(5);
        openCalls();
        browser.eval("document.activeElement.blur()");
        browser.type("/", "classify");
        assertThat(browser.text("#calls-found")).containsPattern("^[1-9]\\d* operations?; Enter for the next");
        browser.type(Keys.ENTER);
        assertThat(browser.text("#calls-found")).startsWith("1 of ");
        browser.type("-nowhere");
        assertThat(browser.text("#calls-found")).isEqualTo("0 operations");
        choose("calls-by", "thread");
        assertThat(texts("#calls-tracks .lane-name")).allMatch(each -> each.contains("thread"));
        choose("calls-by", "function");
        assertThat(texts("#calls-tracks .lane-name")).anyMatch(each -> each.contains("classify"));
    }

    @Test
    void aCallWaitingForASignalOfNobodyIsACard() throws Exception {
        readDigits(1);
        try (Timeline timeline = runtime.createTimeline("upload-finished");
                Fence never = timeline.at(1)) {
            CompletableFuture<Results> hanging = invocations
                    .request("digits.classify")
                    .inputs(Tensor.of(new float[64], 1, 64))
                    .after(never)
                    .invokeAsync();
            openCalls();
            browser.until("window.ireeConsole.calls.trace.problems.length > 0");
            assertThat(texts("#calls-problems .problem")).hasSize(1);
            assertThat(browser.text("#calls-problems")).contains("unsignalled fence", "digits", "What to do:");
            assertThat(texts("#calls-problems .missing"))
                    .singleElement()
                    .asString()
                    .contains("'upload-finished' at 1");
            browser.picture("calls-hang");
            browser.assertAccessible("a call that hangs");
            never.signal();
            hanging.join().close();
        }
    }

    @Test
    void aTraceOfAFileIsOpenedAndADamagedTraceIsNamed() throws Exception {
        readDigits(3);
        openCalls();
        String text = (String)
                browser.await(
                        "fetch('../actuator/iree/recording/export/trace').then((answer) => answer.text()).then((text) => (window.traceText = text))");
        assertThat(text).startsWith("{\"format\":\"iree4j trace 1\"");
        browser.type("1");
        browser.until("document.title.startsWith('Explore')");
        browser.eval("document.activeElement.blur()");
        browser.type("o");
        Map<String, String> hostile = new LinkedHashMap<>();
        hostile.put(
                "window.traceText.replace('\"number\":[', '\"number\":[0.5,')",
                "element 1 of column 'number' of 'operations' is 0.5");
        hostile.put(
                "window.traceText.replace(/\"thread\":\\[\\d+/, '\"thread\":[\"a\"')",
                "element 1 of column 'thread' of 'operations' is a");
        hostile.put("JSON.stringify({ ...JSON.parse(window.traceText), names: [1] })", "element 1 of 'names'");
        hostile.put("JSON.stringify({ format: 'iree4j trace 1' })", "'names' is not a list");
        hostile.put("JSON.stringify({ format: 'iree4j trace 2' })", "a trace of another version, 'iree4j trace 2'");
        hostile.put("window.traceText.slice(0, 200)", "the trace is damaged");
        hostile.forEach((damaged, reason) -> {
            browser.eval("void (document.getElementById('open-text').value = " + damaged + ")");
            browser.click("#open-run");
            browser.until("document.getElementById('open-status').textContent !== ''");
            assertThat(browser.text("#open-status")).contains(reason);
        });
        browser.eval("void (document.getElementById('open-text').value = window.traceText)");
        browser.click("#open-run");
        browser.until("document.title.startsWith('Calls')");
        assertThat(browser.text("#calls-about")).contains("operations of");
    }

    @Test
    void aTraceWithoutOperationsIsShownAsSuch() throws Exception {
        openAddress("");
        browser.until("window.ireeConsole?.calls !== undefined");
        browser.eval("""
                (() => {
                  const columns = (keys) => Object.fromEntries(keys.map((key) => [key, []]));
                  window.ireeConsole.explore.dialog.actions.trace({
                    format: 'iree4j trace 1', names: [], remarks: null, problems: [null],
                    operations: columns(['number', 'name', 'queue', 'thread', 'call', 'function', 'submitted', 'waiting', 'memory', 'queued', 'running', 'ended', 'known', 'after', 'ready', 'reason']),
                    calls: columns(['number', 'function', 'begin', 'end', 'waiting', 'memory', 'queued', 'running', 'host', 'unknown', 'ended']),
                  });
                })()""");
        browser.until("document.title.startsWith('Calls')");
        assertThat(browser.text("#calls-about")).contains("0 operations of 0 calls.");
        assertThat(browser.text("#calls-functions")).isEqualTo("The recording has no operations of calls.");
    }

    /** The dispatches of a sampled operation, and the unknown part. */
    @Test
    void dispatchesAreBelowTheirOperationAndATraceWithoutDispatchesIsShown() {
        openAddress("");
        assertThat(browser.await("""
                        await (async () => {
                          const { Trace } = await import('./model/trace.js');
                          const { dispatchText } = await import('./view/trace-tracks.js');
                          const none = (keys) => Object.fromEntries(keys.map((key) => [key, []]));
                          const given = {
                            format: 'iree4j trace 1', until: 300, leftOut: 0, names: ['execute', 'q', 'f', 'quick', 'slow'],
                            operations: {
                              number: [1, 2], name: [0, 0], queue: [1, 1], thread: [7, 7], call: [1, 1], function: [2, 2],
                              submitted: [100, 200], waiting: [0, 0], memory: [0, 0], queued: [0, 0], running: [40, 50],
                              ended: [0, 0], known: [140, 250], after: [0, 0], ready: [110, 150], reason: [0, 0],
                            },
                            calls: none(['number', 'function', 'begin', 'end', 'waiting', 'memory', 'queued', 'running', 'host', 'unknown', 'ended']),
                          };
                          const old = new Trace(given);
                          const dispatches = {
                            operation: [2, 2, 2, 2, 9], export: [3, 4, 3, 4, 3], x: [1, 2, 1, -1, 1], y: [1, 2, 1, -1, 1], z: [1, 3, 1, -1, 1],
                            begin: [200, 205, 0, 0, 1], duration: [5, 30, 0, 0, 1], workers: [1, 2, 0, 0, 1], state: [0, 1, 3, 77, 0],
                          };
                          const trace = new Trace({ ...given, dispatches });
                          let refused = '';
                          try {
                            new Trace({ ...given, dispatches: { ...dispatches, state: ['a', 0, 0, 0, 0] } });
                          } catch (error) {
                            refused = error.message;
                          }
                          return [old.operations[1].dispatches.length, trace.operations[0].dispatches.length, ...trace.operations[1].dispatches.map(dispatchText), refused].join('|');
                        })()"""))
                .isEqualTo("0|0|5 ns quick of 1×1×1, 10.0 % of the time running"
                        + "|30 ns slow of 2×2×3, 60.0 % of the time running, by 2 workers, failed"
                        + "|quick of 1×1×1: not run|slow of counts in a buffer: not known: records are missing"
                        + "|element 1 of column 'state' of 'dispatches' is a, not a whole number");
    }

    /** The recorder computes times; the page sums, ranks, and follows. */
    @Test
    void sumsRanksAndPathsFollowFromTheTrace() {
        openAddress("");
        assertThat(browser.await("""
                        await (async () => {
                          const { Trace } = await import('./model/trace.js');
                          const trace = new Trace({
                            format: 'iree4j trace 1', start: '', until: 300, leftOut: 0, caveat: '', names: ['fill', 'q', 'f', 'g'], remarks: { 4: 'held back' },
                            operations: {
                              number: [1, 2, 3, 4], name: [0, 0, 0, 0], queue: [1, 1, 1, 1], thread: [7, 7, 8, 8], call: [1, 1, 2, 3], function: [2, 2, 2, 3],
                              submitted: [100, 110, 120, 50], waiting: [0, 40, 0, 0], memory: [10, 0, 0, 0], queued: [0, 0, 5, 0], running: [40, 50, 5, 0],
                              ended: [0, 0, 0, 1], known: [150, 200, 130, 50], after: [0, 1, 0, 0], ready: [110, 150, 120, 50], reason: [0, 1, 2, -1],
                            },
                            calls: { number: [1, 2, 3], function: [2, 2, 3], begin: [100, 120, 50], end: [200, 130, 50], waiting: [0, 0, 0], memory: [10, 0, 0], queued: [0, 5, 0], running: [90, 5, 0], host: [0, 0, 0], unknown: [0, 0, 0], ended: [0, 0, 1] },
                            problems: [{ kind: 'unsignalled-fence', summary: 's', age: 5, call: 3, links: ['call 3', 'u at 1', 'fill #4', 't at 1'], chain: [], remedy: 'r' }],
                          });
                          const [f] = trace.functions;
                          const path = trace.pathOf(trace.callByNumber.get(1)).map((op) => op.number).join('>');
                          const { operations, parts } = trace.measure(105, 125);
                          const rows = trace.tracks('queue')[0].operations.map((op) => op.row).join('');
                          const chain = trace.problems[0].links.map((each) => `${each.text}${each.missing ? '!' : ''}`).join(' < ');
                          return [f.name, f.count, f.p50, f.p99, f.parts, path, trace.from, trace.to, operations, parts, rows, chain, trace.operations[3].end].join('|');
                        })()"""))
                .isEqualTo(
                        "f|2|10||0,10,5,95,0,0|1>2|100|300|4|15,5,5,15|0123|call 3 < u at 1 < fill #4 < t at 1!|300");
    }

    /** The map shows the number running at once, and leaves out work in a row. */
    @Test
    void operationsInARowRunSingly() {
        openAddress("");
        assertThat(browser.await("""
                        await (async () => {
                          const { Trace } = await import('./model/trace.js');
                          const running = (starts, duration) => {
                            const column = (of) => starts.map((_, i) => of(i));
                            const keys = ['name', 'queue', 'thread', 'call', 'function', 'waiting', 'memory', 'queued', 'ended', 'after', 'ready', 'reason', 'known'];
                            const none = Object.fromEntries(['number', 'function', 'begin', 'end', 'waiting', 'memory', 'queued', 'running', 'host', 'unknown', 'ended'].map((key) => [key, []]));
                            const zeros = Object.fromEntries(keys.map((key) => [key, column(() => 0)]));
                            const operations = { ...zeros, number: column((i) => i + 1), submitted: starts, running: column(() => duration) };
                            return new Trace({ format: 'iree4j trace 1', until: 0, names: ['f'], operations, calls: none }).running(600);
                          };
                          const apart = Array.from({ length: 999 }, (_, i) => i * 1000);
                          const serial = running([...apart, 1e9], 1000); // of which 999 touch the first two slices
                          const twice = running([...apart, ...apart.map((at) => at + 400)], 1000);
                          return [Math.max(...serial), serial[0], serial[300], serial[599], Math.max(...twice), twice[599]].join();
                        })()""")).isEqualTo("1,1,0,1,2,2");
    }

    /** A trace with operations that each begin 1 \u00b5s after the previous operation, and run for 1 \u00b5s. */
    private static String trace(int operations, String after, String remarks, String calls) {
        return """
                (() => {
                  const column = (of) => Array.from({ length: %d }, (_, i) => of(i));
                  const keys = ['name', 'queue', 'thread', 'function', 'waiting', 'memory', 'queued', 'ended'];
                  const zeros = Object.fromEntries(keys.map((key) => [key, column(() => 0)]));
                  const none = Object.fromEntries(['number', 'function', 'begin', 'end', 'waiting', 'memory', 'queued', 'running', 'host', 'unknown', 'ended'].map((key) => [key, []]));
                  const starts = column((i) => 1000 * i);
                  const operations = { ...zeros, number: column((i) => i + 1), call: column((i) => i + 1), submitted: starts, known: starts, ready: starts, running: column(() => 1000), after: %s, reason: column(() => 1) };
                  const calls = (count) => ({ ...none, ...Object.fromEntries(Object.keys(none).map((key) => [key, column(() => 0).slice(0, count)])), number: column((i) => i + 1).slice(0, count), end: column(() => 1000).slice(0, count), running: column(() => 1000).slice(0, count) });
                  return { format: 'iree4j trace 1', until: 63_000_000, names: ['f'], remarks: %s, operations, calls: %s };
                })()""".formatted(operations, after, remarks, calls);
    }

    private void openTrace(String trace) {
        openAddress("");
        browser.until("window.ireeConsole?.calls !== undefined");
        browser.eval("void window.ireeConsole.explore.dialog.actions.trace(" + trace + ")");
        browser.until("document.title.startsWith('Calls')");
    }

    @Test
    void aFailedOperationIsSeenAmongOthersInThePixel() {
        String anyPixelIsBad =
                "(() => { const { tracks } = window.ireeConsole.calls; tracks.drawNow(); const { canvas } = tracks;"
                        + " const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });"
                        + " copy.fillStyle = getComputedStyle(document.body).getPropertyValue('--bad'); copy.fillRect(0, 0, 1, 1);"
                        + " const bad = [...copy.getImageData(0, 0, 1, 1).data]; copy.clearRect(0, 0, 1, 1); copy.drawImage(canvas, 0, 0);"
                        + " const { data } = copy.getImageData(0, 0, 4, canvas.height); for (let i = 0; i < data.length; i += 4)"
                        + " if (bad.every((each, k) => Math.abs(each - data[i + k]) < 12)) return true; return false; })()";
        String after = "column(() => 0)";
        openTrace(trace(5, after, "{ 3: 'kernel trapped' }", "none"));
        assertThat(browser.eval(anyPixelIsBad)).isEqualTo(true);
        openTrace(trace(5, after, "{}", "none"));
        assertThat(browser.eval(anyPixelIsBad))
                .as("of operations that ended well")
                .isEqualTo(false);
    }

    @Test
    void aPathBeginningAfterAnOperationWithoutRecordsReportsSo() {
        openTrace(trace(3, "[-1, 0, 77]", "{}", "calls(3)"));
        List<String> begins = List.of("an operation whose records are missing", "f #2", "operation #77, left out");
        for (int call = 1; call <= 3; call++) {
            browser.eval(
                    "void window.ireeConsole.calls.tracks.actions.select(window.ireeConsole.calls.trace.operations[%d])"
                            .formatted(call - 1));
            assertThat(texts("#calls-call ol.path li")).as("call " + call).hasSize(call == 2 ? 1 : 2);
            assertThat(texts("#calls-call ol.path li").getFirst()).startsWith(begins.get(call - 1));
        }
    }

    @Test
    void fewerThanAHundredCallsHaveNoNinetyNinthPercentile() {
        openTrace(trace(100, "column(() => 0)", "{}", "calls(99)"));
        assertThat(texts("#calls-functions td.number")).containsExactly("99", "1 \u00b5s", "slowest 1 \u00b5s");
        openTrace(trace(100, "column(() => 0)", "{}", "calls(100)"));
        assertThat(texts("#calls-functions td.number")).containsExactly("100", "1 \u00b5s", "1 \u00b5s");
    }

    /** Hanging work is drawn until then; perhaps ended work is grey, and no longer than its records. */
    @Test
    void timeEndsWhenTheRecordingWasTakenAndUnknownEndsAreNoHangs() {
        openAddress("");
        browser.until("window.ireeConsole?.calls !== undefined");
        browser.eval("""
                (() => {
                  window.ireeConsole.explore.dialog.actions.trace({
                    format: 'iree4j trace 1', start: '', until: 63_000_000, leftOut: 70, openLeftOut: 20, names: ['fill', 'q', ''], remarks: { 2: 'held back', 3: 'ended or not: the records are missing' },
                    operations: {
                      number: [1, 2, 3], name: [0, 0, 0], queue: [1, 1, 1], thread: [7, 7, 7], call: [0, 0, 0], function: [2, 2, 2],
                      submitted: [0, 100_000, 200_000], waiting: [0, 0, 0], memory: [0, 0, 0], queued: [0, 0, 0], running: [400_000, 0, 0],
                      ended: [0, 1, 2], known: [400_000, 100_000, 20_000_000], after: [0, 0, 0], ready: [0, 0, 0], reason: [0, -1, -1],
                    },
                    calls: Object.fromEntries(['number', 'function', 'begin', 'end', 'waiting', 'memory', 'queued', 'running', 'host', 'unknown', 'ended'].map((key) => [key, []])),
                  });
                })()""");
        browser.until("document.title.startsWith('Calls')");
        assertThat(browser.text("#calls-about"))
                .contains("3 operations of 0 calls over 63 ms")
                .contains("70 more operations left out, of which 20 had not ended");
        assertThat(browser.eval("(() => { const { trace } = window.ireeConsole.calls;"
                        + " return [trace.from, trace.to, ...trace.operations.map((op) => op.end)].join(); })()"))
                .isEqualTo("0,63000000,400000,63000000,20000000");
        assertThat(browser.text("#calls-view [aria-label='Legend of the bars']"))
                .contains("not ended", "ended or not: records are missing");
        // The colour at a part of the width, in the row of an operation.
        String colour = "((index, part) => { const { tracks, trace } = window.ireeConsole.calls; tracks.drawNow();"
                + " const op = trace.operations[index]; const track = tracks.places[0]; const scale = devicePixelRatio;"
                + " const y = (track.top + 4 + (op.row + 0.4) * track.row) * scale; const x = (part * tracks.canvas.width);"
                + " const copy = new OffscreenCanvas(tracks.canvas.width, tracks.canvas.height).getContext('2d', { willReadFrequently: true });"
                + " copy.drawImage(tracks.canvas, 0, 0); const here = copy.getImageData(x, y, 1, 1).data.join();"
                + " copy.fillStyle = getComputedStyle(document.body).getPropertyValue('--part-unknown'); copy.fillRect(0, 0, 1, 1);"
                + " return here === copy.getImageData(0, 0, 1, 1).data.join() ? 'grey' : 'not grey'; })";
        assertThat(browser.eval(colour + "(2, 0.2)")).isEqualTo("grey");
        assertThat(browser.eval(colour + "(2, 0.5)")).isEqualTo("not grey");
        assertThat(browser.eval(colour + "(1, 0.5)")).isEqualTo("not grey");
        browser.picture("calls-unknown");
        browser.assertAccessible("operations whose ends are not known");
    }

    @Test
    void aHangingOperationWithoutACallIsACard() throws Exception {
        readDigits(1);
        try (Timeline timeline = runtime.createTimeline("upload-finished");
                Fence never = timeline.at(1)) {
            runtime.device().queue(0).barrier(never, null, 0);
            openCalls();
            assertThat(texts("#calls-problems .problem")).hasSize(1);
            assertThat(texts("#calls-problems .links li"))
                    .hasSize(2)
                    .first()
                    .asString()
                    .contains("barrier on local/0");
            assertThat(texts("#calls-problems .missing"))
                    .singleElement()
                    .asString()
                    .contains("'upload-finished' at 1");
            assertThat(texts("#calls-problems button"))
                    .as("there is no call to show")
                    .isEmpty();
            timeline.semaphore().signal(1);
        }
    }
}
