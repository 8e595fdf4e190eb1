package io.github.iree4j.sample;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.openqa.selenium.Keys;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;

/** The console in a browser: scenarios. */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT)
@Timeout(900)
class ConsoleBrowserTests {

    private static Browser browser;

    @LocalServerPort
    private int port;

    @BeforeAll
    static void start() {
        browser = Browser.start();
    }

    @AfterAll
    static void stop() {
        if (browser != null) {
            browser.close();
        }
    }

    @BeforeEach
    void reset() {
        browser.resize(1360, 1000);
        browser.preferDark(false);
    }

    @AfterEach
    void saysNoErrors() {
        browser.assertNoErrors();
    }

    private void open(String query) {
        browser.open("http://localhost:" + port + "/iree/" + query);
        browser.until("document.getElementById('now').textContent !== ''");
    }

    private void pick(String scenario) {
        open("?scenario=" + scenario);
        browser.until("document.getElementById('scenario').value === '" + scenario + "'");
    }

    private String now() {
        return browser.text("#now");
    }

    private static List<String> texts(String selector) {
        List<?> texts = (List<?>)
                browser.eval("[...document.querySelectorAll('" + selector + "')].map((each) => each.textContent)");
        return texts.stream().map(Object::toString).toList();
    }

    @Test
    void picksAScenarioAndShowsItsRun() {
        open("");
        browser.eval("(() => { const list = document.getElementById('scenario'); list.value = 'cross-queue';"
                + " list.dispatchEvent(new Event('change')); })()");
        browser.until("document.getElementById('summary').textContent.startsWith('4 operations')");
        browser.until("document.querySelectorAll('.node').length === 4");
        assertThat(browser.address()).contains("scenario=cross-queue");
        assertThat(browser.text("#semaphores-box")).contains("A").contains("0 / 2");
        browser.picture("explore");
        browser.assertAccessible("Explore");
    }

    @Test
    void stepsAndPlays() {
        pick("fork-join");
        assertThat(now()).isEqualTo("tick 0 of 9");
        browser.click("#forward");
        browser.click("#forward");
        assertThat(now()).isEqualTo("tick 2 of 9");
        assertThat(browser.text("#semaphores-box")).contains("1 / 2");
        assertThat(browser.text("#log-box")).contains("setup ends").contains("branch_b starts on gpu_1");
        browser.click("#back");
        assertThat(browser.text("#semaphores-box")).contains("0 / 2");
        for (int i = 0; i < 3; i++) {
            browser.click("#speed");
        }
        browser.click("#play");
        browser.until("document.getElementById('now').textContent === 'tick 9 of 9'");
        browser.until("document.getElementById('play').textContent === 'Play'");
        assertThat(texts(".node-state")).containsOnly("\u2713");
        assertThat(texts("#semaphores-box .chip")).contains("s\u200a:\u200a2");
    }

    @Test
    void slidersScaleTheScenario() {
        pick("fork-join");
        slide("width", 3);
        browser.until("document.getElementById('summary').textContent.startsWith('12 operations')");
        slide("depth", 2);
        browser.until("document.getElementById('summary').textContent.startsWith('24 operations')");
        slide("lanes", 4);
        browser.until("document.querySelectorAll('#lanes-box .lane-name').length === 4");
        assertThat(browser.address()).contains("width=3").contains("depth=2").contains("lanes=4");
        browser.picture("explore-scaled");
        browser.assertAccessible("a scaled scenario");
    }

    private static void slide(String slider, int value) {
        browser.eval("(() => { const it = document.getElementById('" + slider + "'); it.value = " + value
                + "; it.dispatchEvent(new Event('input')); })()");
    }

    @Test
    void theAddressSaysWhatIsShown() {
        open("?scenario=late-waiter&tick=9&op=join&lanes=2");
        browser.until("document.querySelector('#operation-box strong')?.textContent === 'join'");
        assertThat(now()).isEqualTo("tick 9 of 11");
        // It waits for s to reach 1, so it inherits what the signal of 1 knew, though s is at 3.
        assertThat(browser.text("#operation-box"))
                .contains("s \u2265 1")
                .contains("by step1")
                .doesNotContain("step2 and");
        assertThat(browser.text("#operation-box")).contains("running");
        assertThat(texts("#operation-box dd:nth-of-type(3) .chip"))
                .containsExactlyInAnyOrder("g\u200a:\u200a2", "s\u200a:\u200a1");
        browser.picture("explore-operation");
        assertThat(browser.address()).contains("tick=9").contains("op=join");
    }

    @Test
    void everythingIsReachedWithTheKeyboard() {
        pick("cross-queue");
        browser.eval("document.activeElement.blur()");
        browser.type(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT);
        assertThat(now()).isEqualTo("tick 2 of 10");
        browser.type(Keys.END);
        assertThat(now()).isEqualTo("tick 10 of 10");
        browser.type(Keys.HOME, "n", "n", "n");
        assertThat(browser.text("#operation-box strong")).isEqualTo("copy");
        browser.type("p");
        assertThat(browser.text("#operation-box strong")).isEqualTo("activation");
        browser.type(Keys.ESCAPE, "]");
        browser.until("document.getElementById('scenario').value === 'fork-join'");
        browser.type("[");
        browser.until("document.getElementById('scenario').value === 'cross-queue'");
        browser.type(" ");
        browser.until("document.getElementById('play').textContent === 'Pause'");
        browser.type(" ");
        assertThat(browser.text("#play")).isEqualTo("Play");
        browser.type("?");
        browser.until("document.getElementById('keys-dialog').open");
        browser.type(Keys.ESCAPE);
        browser.until("!document.getElementById('keys-dialog').open");
        browser.type("2");
        browser.until("document.title.startsWith('Live')");
        browser.type("1");
        browser.until("document.title.startsWith('Explore')");
    }

    @Test
    void theGraphIsWalkedAlongItsEdges() {
        pick("fork-join");
        browser.eval("document.querySelector('.node').focus()");
        browser.type(Keys.ENTER, Keys.ARROW_RIGHT);
        assertThat(browser.text("#operation-box strong")).isEqualTo("branch_a");
        browser.type(Keys.ARROW_DOWN);
        assertThat(browser.text("#operation-box strong")).isEqualTo("branch_b");
        browser.type(Keys.ARROW_RIGHT);
        assertThat(browser.text("#operation-box strong")).isEqualTo("merge");
        assertThat(browser.eval("document.activeElement.getAttribute('aria-label')"))
                .isEqualTo("merge on gpu, waiting");
    }

    @Test
    void theFocusIsSeenAndReachesEveryControl() {
        pick("fork-join");
        Set<Object> reached = new LinkedHashSet<>();
        browser.eval("document.activeElement.blur()");
        for (int i = 0; i < 60; i++) {
            browser.type(Keys.TAB);
            Object id = browser.eval("document.activeElement.id || document.activeElement.className.baseVal"
                    + " || document.activeElement.className || document.activeElement.tagName");
            if (id.equals("BODY")) {
                break;
            }
            reached.add(id);
            assertThat(browser.eval(
                            "(() => { const style = getComputedStyle(document.activeElement.querySelector?.('.node-box')"
                                    + " ?? document.activeElement); return parseFloat(style.outlineWidth) >= 2 && style.outlineStyle !== 'none'"
                                    + " || parseFloat(style.strokeWidth) >= 2; })()"))
                    .as("outline of " + id)
                    .isEqualTo(true);
        }
        assertThat(reached.stream().map(Object::toString))
                .contains(
                        "skip",
                        "explore-tab",
                        "live-tab",
                        "keys",
                        "theme",
                        "scenario",
                        "width",
                        "depth",
                        "lanes",
                        "ways",
                        "open",
                        "share",
                        "first",
                        "back",
                        "play",
                        "forward",
                        "last",
                        "position",
                        "speed",
                        "fault-hardware")
                .anyMatch(each -> each.startsWith("node"));
    }

    @Test
    void faultsAreInjectedWhileItPlaysAndInvariantsHold() {
        pick("fork-join");
        browser.eval("document.activeElement.blur()");
        browser.type(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, "l");
        browser.until("document.querySelector('.faults').textContent.includes('gpu lost at 3')");
        assertThat(browser.address()).contains("fault=lose");
        browser.type(Keys.END);
        assertThat(texts(".node-state")).containsExactlyInAnyOrder("\u2713", "\u2715", "\u2715", "\u2715");
        assertThat(browser.text(".invariants"))
                .contains("Never optimistic")
                .contains("Nothing hangs")
                .contains("3 of 4 operations fail");
        assertThat(texts(".invariants .broken")).isEmpty();
        browser.picture("explore-faults");
        browser.assertAccessible("faults");
        browser.type("u");
        browser.until("document.querySelector('.faults').textContent === ''");
        for (String kind : List.of("slow", "fail", "exhaust")) {
            browser.click("[data-kind=" + kind + "]");
            browser.until("document.querySelectorAll('.faults li').length === 1");
            assertThat(texts(".invariants .broken")).as(kind).isEmpty();
            browser.click(".faults button");
            browser.until("document.querySelectorAll('.faults li').length === 0");
        }
    }

    @Test
    void comparesThreeWays() {
        pick("submit-before-wait");
        browser.click("#ways");
        browser.until("document.querySelectorAll('.way').length === 3");
        assertThat(texts(".way h3")).containsExactly("Binary events", "Timeline semaphores", "Frontiers");
        String events = texts("#ways-box tbody tr:first-child td").getFirst();
        slide("delay", 4);
        browser.until("document.querySelector('#ways-box tbody tr:first-child td').textContent !== '" + events + "'");
        List<String> makespans = texts("#ways-box tbody tr:first-child td");
        // The host pays for each event; what is left to the hardware does not.
        assertThat(Integer.parseInt(makespans.getFirst())).isGreaterThan(Integer.parseInt(makespans.getLast()));
        assertThat(browser.address()).contains("ways=1");
        browser.eval("window.ireeConsole.explore.transport.seek(6)");
        browser.picture("explore-ways");
        browser.assertAccessible("the comparison");
    }

    @Test
    void darkModeFollowsTheSystemAndTheSwitch() {
        browser.preferDark(true);
        open("?scenario=kv-paging&tick=5&op=evict");
        String dark = (String) browser.eval("getComputedStyle(document.body).backgroundColor");
        browser.picture("explore-dark");
        browser.assertAccessible("Explore in the dark");
        browser.click("#theme");
        assertThat(browser.text("#theme")).isEqualTo("Theme: light");
        assertThat(browser.eval("getComputedStyle(document.body).backgroundColor"))
                .isNotEqualTo(dark);
        browser.click("#theme");
        assertThat(browser.eval("getComputedStyle(document.body).backgroundColor"))
                .isEqualTo(dark);
        browser.preferDark(false);
        assertThat(browser.eval("getComputedStyle(document.body).backgroundColor"))
                .isEqualTo(dark);
        browser.click("#theme");
        assertThat(browser.text("#theme")).isEqualTo("Theme: system");
        assertThat(browser.eval("getComputedStyle(document.body).backgroundColor"))
                .isNotEqualTo(dark);
    }

    @Test
    void fitsIntoFourHundredPixels() {
        browser.resize(400, 800);
        pick("multi-model");
        assertThat(browser.eval("document.documentElement.scrollWidth <= 400")).isEqualTo(true);
        browser.click("#forward");
        assertThat(now()).startsWith("tick 1");
        browser.picture("explore-narrow");
        browser.assertAccessible("Explore in 400 pixels");
    }

    @Test
    void everyScenarioIsShownAndKeepsTheInvariants() {
        open("");
        List<?> ids =
                (List<?>) browser.eval("[...document.querySelectorAll('#scenario option')].map((each) => each.value)");
        assertThat(ids).hasSizeGreaterThanOrEqualTo(14);
        for (Object id : ids) {
            browser.eval("(() => { const list = document.getElementById('scenario'); list.value = '" + id
                    + "'; list.dispatchEvent(new Event('change')); })()");
            browser.until("window.ireeConsole.explore.schedule.id === '" + id + "'");
            assertThat((List<?>) browser.eval(
                            "[...document.querySelectorAll('.invariants .broken')].map((each) => each.textContent)"))
                    .as("%s", id)
                    .isEmpty();
            browser.type(Keys.END);
        }
    }

    @Test
    void aFileIsOpenedAndSaysWhenItIsNone() {
        open("");
        browser.eval(
                "window.ireeConsole.explore.open({id: 'mine', label: 'My run', finalTick: 4, hardware: [{id: 'gpu', lanes: 1}],"
                        + " ops: [{id: 'a', hw: 'gpu', lane: 'gpu', start: 0, end: 2, wait: {}, signal: {s: 1}, frontier: {s: 1}},"
                        + " {id: 'b', hw: 'gpu', lane: 'gpu', start: 2, end: 4, wait: {s: 1}, signal: {s: 2}, frontier: {s: 2}}], sems: {}})");
        assertThat(browser.text("#summary")).startsWith("2 operations");
        browser.find("#file").sendKeys(Path.of("pom.xml").toAbsolutePath().toString());
        browser.until("document.getElementById('notice').textContent.includes('pom.xml is not a scenario')");
    }

    /** Two operations of a stream, and bytes that the second reuses because it runs after the first. */
    private static final String PAGES = """
            [{cursor: 12, start: '2026-11-23T02:00:00Z', completeFrom: 0, more: false,
              queues: [{axis: 'queue:0@m0.s7', name: 'gpu/0', stream: true}], pools: [{name: 'transient'}],
              events: [
                {number: 0, time: 100, kind: 'submitted', values: {operation: 1, queue: 'queue:0@m0.s7', name: 'fill', call: 5,
                  function: 'digits.classify', waits: [], signals: [{timeline: 3, value: 1}]}},
                {number: 1, time: 110, kind: 'reserved', values: {reservation: 1, pool: 0, size: 60, length: 64, slab: 0, offset: 0,
                  reuse: 'UNUSED', persistent: false, consumer: 'digits', call: 5, function: 'digits.classify', death: {}}},
                {number: 2, time: 120, kind: 'issued', values: {operation: 1, reservation: 1, frontier: {'queue:0@m0.s7': 1}}},
                {number: 3, time: 130, kind: 'submitted', values: {operation: 2, queue: 'queue:0@m0.s7', name: 'execute', call: 6,
                  function: 'digits.classify', waits: [{timeline: 3, value: 1}], signals: [{timeline: 3, value: 2}]}},
                {number: 4, time: 140, kind: 'decided', values: {operation: 2, decisions: [{decision: 'ELIDED_FIFO', value: 1}]}},
                {number: 5, time: 150, kind: 'issued', values: {operation: 2, reservation: 0, frontier: {'queue:0@m0.s7': 2}}},
                {number: 6, time: 200, kind: 'completed', values: {operation: 1}},
                {number: 7, time: 210, kind: 'over', values: {operation: 1, status: 'OK', message: '', frontier: {'queue:0@m0.s7': 1}}},
                {number: 8, time: 220, kind: 'released', values: {reservation: 1, death: {'queue:0@m0.s7': 1}}},
                {number: 9, time: 230, kind: 'reserved', values: {reservation: 2, pool: 0, size: 32, length: 32, slab: 0, offset: 0,
                  reuse: 'KNOWN_BEFORE', persistent: false, consumer: 'digits', call: 6, function: 'digits.classify',
                  death: {'queue:0@m0.s7': 1}}},
                {number: 10, time: 300, kind: 'completed', values: {operation: 2}},
                {number: 11, time: 310, kind: 'over', values: {operation: 2, status: 'INTERNAL', message: 'kernel trapped',
                  frontier: {'queue:0@m0.s7': 2}}}]}]""";

    @Test
    void aRecordingShowsMemoryAndWhyABlockWasReused() {
        open("");
        browser.await("await (async () => { const { recordingRun } = await import('./model/recording.js');"
                + " window.ireeConsole.explore.open(recordingRun(" + PAGES + ")); return true; })()");
        assertThat(browser.text("#summary")).startsWith("2 operations, 1 lane");
        browser.eval("window.ireeConsole.explore.transport.seek(150)");
        assertThat(browser.text("#memory-card"))
                .contains("32 B in 1 blocks at 150 ns")
                .contains("digits");
        browser.click("#memory-box .blocks button");
        assertThat(browser.text(".life"))
                .contains("this one runs after its last users")
                .contains("gpu/0\u200a:\u200a1")
                .contains("64 B of digits.classify");
        browser.type("n", "n");
        // The stream began it when its predecessor had ended, though it was issued before.
        assertThat(browser.text("#operation-box"))
                .contains("execute #2")
                .contains("100 ns to 200 ns")
                .contains("call 6 of digits.classify")
                .contains("kernel trapped")
                .contains("1 wait implied by the order of its queue");
        assertThat(texts(".invariants .broken")).isEmpty();
        browser.picture("explore-recording");
        browser.assertAccessible("a recording");
    }
}
