package io.github.iree4j.sample;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.openqa.selenium.Keys;

/** The console in a browser: faults are taken as meant, and the rules notice misfits. */
class ConsoleFaultTests extends ConsoleTests {

    private static final String ODD = """
            id: odd
            hardware: [{id: "gpu@1"}, {id: "a,b", machine: "m@1,2"}, {id: "npu*3"}]
            operations:
              - {id: "op,1@5", hw: "gpu@1", duration: 2}
              - {id: b, hw: "a,b", duration: 2}
              - {id: c, hw: "npu*3", duration: 2}
            """;

    @Test
    void faultsNameWhateverAnIdMayBe() {
        open("");
        browser.click("#open");
        browser.find("#open-text").sendKeys(ODD);
        browser.click("#open-run");
        browser.until("document.getElementById('summary').textContent.startsWith('3 operations')");
        int faults = 0;
        for (String hardware : List.of("gpu@1", "a,b", "npu*3")) {
            choose("fault-hardware", hardware);
            browser.click("[data-kind=lose]");
            faults++;
            browser.until("document.querySelectorAll('.faults li').length === " + faults);
            assertThat(browser.text(".faults")).contains(hardware + " lost at tick 0");
        }
        browser.eval("document.activeElement.blur()");
        browser.type(Keys.END);
        assertThat(browser.text(".progress")).startsWith("0 ended well, 3 failed");
        assertThat(texts(".invariants .broken")).isEmpty();
        openAddress(browser.address().replaceFirst(".*\\?", "?"));
        browser.until("document.querySelectorAll('.faults li').length === 3");
    }

    @Test
    void asManyFaultsAsTheServerTakesAreKeptAndTheNextIsRefused() {
        pick("fork-join");
        for (int i = 1; i <= 16; i++) {
            browser.eval("window.ireeConsole.explore.inject('slow:gpu*3@" + i + "')");
        }
        browser.until("document.querySelectorAll('.faults li').length === 16");
        browser.eval("window.ireeConsole.explore.inject('slow:gpu*3@17')");
        assertThat(browser.text("#notice"))
                .isEqualTo("A run has at most 16 faults, and this one would have 17: undo one first.");
        assertThat(browser.text(".faults"))
                .contains("at tick 1\n", "at tick 16")
                .doesNotContain("at tick 17");
        browser.click(".faults li button");
        browser.until("document.querySelectorAll('.faults li').length === 15");
        assertThat(browser.eval("document.getElementById('notice').hidden")).isEqualTo(true);
    }

    @Test
    void aRefusedFaultIsNotKept() {
        pick("fork-join");
        browser.eval("window.ireeConsole.explore.inject('lose:moon@1')");
        browser.until("document.getElementById('notice').textContent.includes('moon')");
        assertThat(browser.address()).doesNotContain("moon");
        browser.eval("document.activeElement.blur()");
        browser.type("l");
        browser.until("document.querySelector('.faults').textContent.includes('GPU lost')");
        browser.discardErrors(); // the browser reports the status 400
    }

    @Test
    void uncheckedRulesDoNotHold() {
        pick("fork-join");
        assertThat(texts(".invariants .unchecked b")).containsExactly("Nothing hangs", "Failures where they belong");
        browser.eval("document.activeElement.blur()");
        browser.type(Keys.END);
        assertThat(texts(".invariants .unchecked")).isEmpty();
        assertThat(texts(".invariants .holds")).hasSize(4);
    }

    /** The server names the operations hit by a fault; the page checks the claim. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "lose:pcie@2  | op.hw === 'pcie' && (op.failure = undefined)                    | dma",
                "kill:apu@1   | op.hw === 'apu' && (op.failure = op.hit = undefined)            | whisper",
                "fail:apu@1   | op.hw === 'apu' && (op.failure = op.hit = undefined)            | whisper",
                "lose:pcie@99 | op.hw === 'pcie' && (op.failure = 'lost') && (op.hit = true)    | dma",
                "slow:apu*2@0 | op.hw === 'apu' && (op.failure = 'too slow') && (op.hit = true) | whisper"
            })
    void aFaultWithoutItsFailureAndAFailureWithoutItsFaultBreakARule(String fault, String tamper, String operation) {
        pick("voice-chat");
        Object broken = browser.await("""
                await (async () => {
                  const load = (name) => import(new URL(`model/${name}.js`, location.href).href);
                  const { Schedule } = await load('schedule');
                  const { Invariants } = await load('invariants');
                  const { parseFaults } = await load('faults');
                  const fault = '%s';
                  const answer = await fetch(`../actuator/ireelab/voice-chat?fault=${encodeURIComponent(fault)}`);
                  const run = await answer.json();
                  const broken = () => new Invariants(new Schedule(run), parseFaults(fault)).at(1e9)
                      .find((rule) => rule.name === 'Failures where they belong').broken;
                  const before = broken();
                  for (const op of run.ops) void (%s);
                  return [...before.map((id) => `before: ${id}`), ...broken()];
                })()""".formatted(fault, tamper));
        assertThat(broken).asString().contains(operation).doesNotContain("before");
    }
}
