package io.github.iree4j.sample;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.Keys;

/** The console in a browser: scenarios. */
class ConsoleBrowserTests extends ConsoleTests {

    private String now() {
        return browser.text("#now");
    }

    @Test
    void picksAScenarioAndShowsItsRun() {
        open("");
        choose("scenario", "cross-queue");
        browser.until("document.getElementById('summary').textContent.startsWith('4 operations')");
        browser.until("document.querySelectorAll('.node').length === 4");
        assertThat(browser.address()).contains("scenario=cross-queue");
        assertThat(browser.text("#semaphores-box")).contains("Compute A").contains("0 / 2");
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
        assertThat(browser.text("#log-box")).contains("Set up ends").contains("Branch B starts on GPU 1");
        browser.click("#back");
        assertThat(browser.text("#semaphores-box")).contains("0 / 2");
        for (int i = 0; i < 3; i++) {
            browser.click("#speed");
        }
        browser.click("#play");
        browser.until("document.getElementById('now').textContent === 'tick 9 of 9'");
        browser.until("document.getElementById('play').textContent === 'Play'");
        assertThat(texts(".node-state")).containsOnly("\u2713");
        assertThat(texts("#semaphores-box .chip")).contains("Main\u200a:\u200a2");
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

    @Test
    void theAddressHasTheView() {
        open("?scenario=late-waiter&tick=9&op=join&lanes=2");
        browser.until("document.querySelector('#operation-box strong')?.textContent === 'Join'");
        assertThat(now()).isEqualTo("tick 9 of 11");
        // It waits for s to reach 1, so it inherits what the signal of 1 knew, though s is at 3.
        assertThat(browser.text("#operation-box"))
                .contains("Steps \u2265 1")
                .contains("by Step 1")
                .doesNotContain("Step 2 and");
        assertThat(browser.text("#operation-box")).contains("running");
        assertThat(texts("#operation-box dd:nth-of-type(3) .chip"))
                .containsExactlyInAnyOrder("Setup\u200a:\u200a2", "Steps\u200a:\u200a1");
        browser.picture("explore-operation");
        assertThat(browser.address()).contains("tick=9").contains("op=join");
    }

    /** People read labels, and copy ids into links, faults and files. */
    @Test
    void labelsAreShownTogetherWithTheirIds() {
        open("?scenario=streaming-translation&tick=8&op=synthesize");
        browser.until("document.querySelector('#operation-box strong')?.textContent === 'Text to speech'");
        assertThat(browser.text("#operation-box .operation-title")).isEqualTo("Text to speech synthesize running");
        assertThat(browser.text("#operation-box")).contains("GPU (gpu)", "Translated \u2265 1", "by Translate");
        assertThat(browser.text("#semaphores-box")).contains("Translated L", "Spoken T");
        assertThat(texts("#fault-hardware option")).containsExactly("Host (cpu)", "GPU (gpu)");
        assertThat(browser.text("#annotation")).startsWith("\u201cText to speech\u201d starts");
        browser.eval("document.getElementById('table-card').open = true");
        browser.until("document.querySelectorAll('#table-box tbody tr').length === 6");
        assertThat(texts("#table-box tbody th"))
                .containsExactly(
                        "Detect voice vad",
                        "Encoder encode",
                        "Decoder decode",
                        "Translate translate",
                        "Text to speech synthesize",
                        "Play playback");
        slide("width", 2);
        browser.until("document.getElementById('summary').textContent.startsWith('12 operations')");
        assertThat(texts("#table-box tbody th")).contains("Encoder/2 encode/2");
        assertThat(browser.address()).contains("op=synthesize");
    }

    /** Browsers drop changes of the address, and warn, when there are too many. */
    @Test
    void theAddressKeepsUpWithAHeldKey() {
        pick("kv-paging");
        browser.eval("document.activeElement.blur()");
        CharSequence[] keys = new CharSequence[300];
        for (int i = 0; i < keys.length; i++) {
            keys[i] = i % 2 == 0 ? Keys.ARROW_RIGHT : Keys.ARROW_LEFT;
        }
        browser.type(keys);
        browser.type(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT);
        assertThat(now()).isEqualTo("tick 3 of 15");
        browser.until("location.search.includes('tick=3')");
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
        assertThat(browser.text("#operation-box strong")).isEqualTo("Copy");
        browser.type("p");
        assertThat(browser.text("#operation-box strong")).isEqualTo("Activate");
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
        assertThat(browser.text("#operation-box strong")).isEqualTo("Branch A");
        browser.type(Keys.ARROW_DOWN);
        assertThat(browser.text("#operation-box strong")).isEqualTo("Branch B");
        browser.type(Keys.ARROW_RIGHT);
        assertThat(browser.text("#operation-box strong")).isEqualTo("Merge");
        assertThat(browser.eval("document.activeElement.getAttribute('aria-label')"))
                .isEqualTo("Merge GPU, waiting, merge");
    }

    @Test
    void theSelectedOperationIsInSightWhileTheLanesAreZoomed() {
        pick("fork-join");
        browser.eval("document.activeElement.blur()");
        browser.type("+", "+", "+");
        for (String key : List.of("n", "n", "n", "n", "p", "p", "p")) {
            browser.type(key);
            assertThat(
                            browser.eval(
                                    "(() => { const { lanes, selected } = window.ireeConsole.explore;"
                                            + " const seen = Math.min(lanes.to, selected.end) - Math.max(lanes.from, selected.start);"
                                            + " return lanes.to - lanes.from < 2 && seen >= Math.min(1, selected.end - selected.start) / 2"
                                            + " ? 'seen' : `${selected.id} is at ${selected.start}, and ${lanes.from} to ${lanes.to} is shown`; })()"))
                    .isEqualTo("seen");
        }
    }

    @Test
    void labelsOfEdgesAreNotOnOperations() {
        browser.resize(1280, 900);
        for (String scenario :
                List.of("fork-join", "request-orchestration", "checkpoint-paging", "spec-decode-speech")) {
            pick(scenario);
            assertThat(browser.eval("""
                            (() => {
                              const boxes = (css) => [...document.querySelectorAll(css)].map((each) => each.getBoundingClientRect());
                              const nodes = boxes('#graph-box .node-back');
                              return boxes('#graph-box .edge-label').filter((label) => nodes.some((node) => label.left < node.right - 1
                                && label.right > node.left + 1 && label.top < node.bottom - 1 && label.bottom > node.top + 1)).length;
                            })()""")).as(scenario).isEqualTo(0L);
        }
        browser.picture("explore-1280");
    }

    @Test
    void namesOfLanesAreWhole() {
        pick("fork-join");
        browser.resize(1280, 900);
        List<?> scenarios = (List<?>)
                browser.eval(
                        "[...document.querySelectorAll('#scenario option')].map((each) => each.value).filter((each) => each !== '')");
        assertThat(scenarios).hasSizeGreaterThan(20);
        for (Object scenario : scenarios) {
            choose("scenario", scenario.toString());
            browser.until("window.ireeConsole.explore.schedule.id === '" + scenario + "'");
            assertThat((List<?>) browser.eval("[...document.querySelectorAll('.lane-name')]"
                            + ".filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.textContent)"))
                    .as("cut names of " + scenario)
                    .isEmpty();
        }
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
    void faultsAreInjectedDuringPlayAndInvariantsHold() {
        pick("fork-join");
        browser.eval("document.activeElement.blur()");
        browser.type(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, "l");
        browser.until("document.querySelector('.faults').textContent.includes('GPU lost at tick 3')");
        assertThat(browser.address()).contains("fault=lose");
        browser.type(Keys.END);
        assertThat(texts(".node-state")).containsExactlyInAnyOrder("\u2713", "\u2715", "\u2715", "\u2715");
        assertThat(browser.text(".invariants"))
                .contains("Never optimistic")
                .contains("Nothing hangs")
                .contains("4 of 4 checked");
        assertThat(browser.text(".progress")).isEqualTo("1 ended well, 3 failed, 0 running, 0 to come.");
        assertThat(texts(".invariants .broken")).isEmpty();
        browser.picture("explore-faults");
        browser.assertAccessible("faults");
        browser.type("u");
        browser.until("document.querySelector('.faults').textContent === ''");
        for (String kind : List.of("kill", "slow", "fail", "exhaust")) {
            browser.click("[data-kind=" + kind + "]");
            browser.until("document.querySelectorAll('.faults li').length === 1");
            assertThat(texts(".invariants .broken")).as(kind).isEmpty();
            browser.click(".faults button");
            browser.until("document.querySelectorAll('.faults li').length === 0");
        }
    }

    @Test
    void aMachineIsKilledWithAKeyWhileTheRulesAreChecked() {
        open("?scenario=cross-node-pipeline&tick=7");
        browser.until("document.getElementById('scenario').value === 'cross-node-pipeline'");
        assertThat(texts(".invariants .number").getFirst()).isEqualTo("6 of 9 checked.");
        choose("fault-hardware", "second");
        browser.eval("document.activeElement.blur()");
        browser.type("k");
        browser.until("document.querySelector('.faults').textContent.includes('second killed at tick 7')");
        assertThat(browser.text(".progress")).contains("failed");
        browser.type(Keys.END);
        assertThat(browser.text(".progress")).isEqualTo("4 ended well, 5 failed, 0 running, 0 to come.");
        assertThat(texts(".invariants .broken")).isEmpty();
        assertThat(texts(".invariants .number").getLast()).isEqualTo("9 of 9 checked.");
        browser.picture("explore-killed");
        browser.assertAccessible("a killed machine");
    }

    @Test
    void lanesOfAScenarioAreGroupedByMachine() {
        pick("cross-node-pipeline");
        assertThat(texts(".lane-names > *"))
                .containsExactly("first", "First GPU", "Network", "second", "Second GPU", "Storage");
        assertThat(browser.eval("document.querySelector('.lanes-canvas').getAttribute('aria-label')")
                        .toString())
                .contains("4 lanes of 2 machines");
        browser.picture("explore-machines");
        browser.assertAccessible("lanes of two machines");
        pick("late-waiter");
        assertThat(texts(".lane-machine")).as("of one machine").isEmpty();
    }

    @Test
    void memoryOfAScenarioHasAMapAndLives() {
        open("?scenario=shared-pool&tick=9");
        browser.until("document.getElementById('memory-card').hidden === false");
        assertThat(browser.text("#memory-box"))
                .contains("6 units in 1 block at tick 9")
                .contains("b_cache");
        assertThat(browser.eval("document.querySelector('#memory-box .memory-canvas').getAttribute('aria-label')")
                        .toString())
                .contains("1 block, 6 units, in use")
                .contains("1 block, 2 units, no use known");
        browser.click("#memory-box > .blocks button");
        assertThat(browser.text("#memory-box .life"))
                .contains("the device waits for its last users")
                .contains("Request A\u200a:\u200a3")
                .contains("6 units of Prefill A");
        browser.picture("explore-memory");
        browser.assertAccessible("memory of a scenario");
        assertThat(texts(".invariants .broken")).isEmpty();
    }

    @Test
    void comparesThreeWays() {
        pick("submit-before-wait");
        browser.click("#ways");
        browser.until("document.querySelectorAll('.way').length === 3");
        assertThat(texts(".way h3")).containsExactly("Binary events", "Timeline semaphores", "Frontiers");
        String events = texts("#ways-box .costs tbody tr:first-child td").getFirst();
        slide("delay", 4);
        browser.until(
                "document.querySelector('#ways-box .costs tbody tr:first-child td').textContent !== '" + events + "'");
        List<String> makespans = texts("#ways-box .costs tbody tr:first-child td");
        // The host pays for each event; what is left to the hardware does not.
        assertThat(Integer.parseInt(makespans.getFirst())).isGreaterThan(Integer.parseInt(makespans.getLast()));
        assertThat(browser.address()).contains("ways=1").contains("delay=4");
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
            choose("scenario", id.toString());
            browser.until("window.ireeConsole.explore.schedule.id === '" + id + "'");
            assertThat((List<?>) browser.eval(
                            "[...document.querySelectorAll('.invariants .broken')].map((each) => each.textContent)"))
                    .as("%s", id)
                    .isEmpty();
            browser.type(Keys.END);
        }
    }
}
