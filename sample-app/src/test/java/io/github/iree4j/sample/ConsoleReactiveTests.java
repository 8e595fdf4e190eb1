package io.github.iree4j.sample;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.springframework.test.context.TestPropertySource;

/** The console in a browser, with Spring WebFlux. */
@TestPropertySource(properties = "spring.main.web-application-type=reactive")
class ConsoleReactiveTests extends ConsoleTests {

    @Test
    void showsScenariosAndTheRunningSystemWithoutARecorder() {
        pick("fork-join");
        assertThat(browser.text("#summary")).startsWith("4 operations");
        openLive();
        assertThat(browser.text("#live-programs")).contains("digits");
        browser.until("window.ireeConsole.live.polls > 2");
        browser.click("#live-export");
        browser.until("document.title.startsWith('Explore')");
        assertThat(browser.text("#description")).contains("polled");
    }

    @Test
    void recordsWithoutARecorderAreSaidToBeMissing() {
        openAddress("?scenario=recorded&since=0&until=10");
        browser.until("document.getElementById('notice')?.textContent.includes('iree.recorder.enabled=true')");
        browser.discardErrors(); // the browser reports the status 404
    }
}
