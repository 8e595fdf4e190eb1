package io.github.iree4j.sample;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
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

    private String now() {
        return browser.text("#now");
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
}
