package io.github.iree4j.sample;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.openqa.selenium.Keys;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;

/** A recording of the running sample in the console. */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT, properties = "iree.recorder.enabled=true")
@Timeout(900)
class ConsoleRecordingTests {

    @LocalServerPort
    private int port;

    @Test
    void opensWhatWasRecordedInExplore() throws Exception {
        try (Browser browser = Browser.start();
                HttpClient client = HttpClient.newHttpClient()) {
            String body = "{\"pixels\": %s}"
                    .formatted(Arrays.toString(
                            HandwrittenDigits.load().heldOut().getFirst().pixels()));
            for (int i = 0; i < 20; i++) {
                client.send(
                        HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/digits"))
                                .header("Content-Type", "application/json")
                                .POST(BodyPublishers.ofString(body))
                                .build(),
                        BodyHandlers.discarding());
            }
            browser.open("http://localhost:" + port + "/iree/?view=live");
            browser.until("window.ireeConsole?.live.polls > 0");
            browser.click("#live-export");
            browser.until("document.title.startsWith('Explore')");
            assertThat(browser.text("#description")).startsWith("What the flight recorder has");
            assertThat((Long) browser.eval("window.ireeConsole.explore.schedule.operations.length"))
                    .isGreaterThan(20);
            assertThat(browser.text("#lanes-box")).contains("local/0");
            browser.type(Keys.END, "p");
            assertThat(browser.text("#operation-box")).contains("local/0").contains("digits");
            assertThat(browser.text("#memory-card")).contains("By").contains("digits");
            assertThat((Long) browser.eval("document.querySelectorAll('.invariants .broken').length"))
                    .as(browser.text(".invariants"))
                    .isZero();
            browser.picture("explore-recording-sample");
            browser.assertAccessible("a recording of the sample");
            browser.assertNoErrors();
        }
    }
}
