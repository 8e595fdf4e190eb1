package io.github.iree4j.sample.chat;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.console.Browser;
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

/** The page of conversations in a browser. */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT)
@Timeout(600)
class ChatPageTests {
    private static final String ENDED = "[...document.querySelectorAll('.stop')].every((each) => each.disabled)";
    private static Browser browser;

    @LocalServerPort
    private int port;

    @BeforeAll
    static void start() {
        browser = Browser.start();
    }

    @AfterAll
    static void end() {
        if (browser != null) {
            browser.close();
        }
    }

    @BeforeEach
    void open() {
        browser.resize(1360, 1000);
        browser.preferDark(false);
        browser.open("http://localhost:" + port + "/");
        browser.until("document.querySelectorAll('#pages .cell').length === 255");
    }

    @AfterEach
    void nothingFailed() {
        browser.assertNoErrors();
    }

    private static String messages(int conversation) {
        return (String) browser.eval("document.querySelectorAll('.messages')[" + conversation + "].textContent");
    }

    @Test
    void conversationsAreAnsweredSideBySide() {
        browser.click("#all");
        browser.until("document.querySelectorAll('.message.assistant').length >= 4 && " + ENDED);
        assertThat(messages(0)).contains("iree4j runs programs compiled by IREE on the Java virtual machine.");
        assertThat(messages(1))
                .contains("weather({\"city\": \"Vevey\"})")
                .contains("tool: {\"temperature\": ")
                .contains("assistant: In Vevey it is ");
        assertThat(messages(2)).contains("{\"name\": \"Ada\", \"age\": ").contains(", \"city\": \"Zug\"}");
        assertThat(messages(3)).contains("1, 2, 3, 4, 5");
        browser.until("Number(document.getElementById('kept').textContent) > 0");
        browser.picture("chat");
        for (boolean dark : new boolean[] {false, true}) {
            browser.preferDark(dark);
            browser.assertAccessible(dark ? "dark" : "light");
        }
    }

    @Test
    void aConversationRemembersItsMessages() {
        browser.click("article:nth-of-type(4) .send");
        browser.until("document.querySelectorAll('.message.assistant').length === 1 && " + ENDED);
        browser.find("article:nth-of-type(4) textarea").sendKeys("What is IREE?", Keys.ENTER);
        browser.until("document.querySelectorAll('.message.assistant').length === 2 && " + ENDED);
        assertThat(messages(3)).contains("1, 2, 3, 4, 5").contains("IREE is a compiler and a runtime");
    }

    @Test
    void stopEndsAnAnswer() {
        browser.click("#all");
        browser.until("[...document.querySelectorAll('.stop')].some((each) => !each.disabled)");
        browser.click("#stop-all");
        browser.until(ENDED);
        browser.until("Number(document.getElementById('used').textContent) === 0"); // the pages are free
    }

    @Test
    void nothingIsWiderThanATelephone() {
        for (int width : new int[] {400, 320}) {
            browser.resize(width, 900);
            for (boolean dark : new boolean[] {false, true}) {
                browser.preferDark(dark);
                browser.until("innerWidth === " + width);
                assertThat((Long) browser.eval("document.documentElement.scrollWidth"))
                        .isLessThanOrEqualTo(width);
            }
        }
        browser.assertAccessible("320 pixels");
    }

    @Test
    void keysAreEnough() {
        browser.eval("document.querySelector('textarea').focus()");
        browser.type(Keys.ENTER);
        browser.until("document.querySelectorAll('.message.assistant').length === 1 && " + ENDED);
        browser.type(Keys.TAB, Keys.SPACE); // the switch
        assertThat(browser.eval("document.querySelector('.tool').checked")).isEqualTo(true);
    }

    @Test
    void aFailingServerIsReported() {
        browser.eval("document.querySelector('textarea').value = 'x'.repeat(2000)");
        browser.eval("document.querySelector('textarea').focus()");
        browser.type(Keys.ENTER);
        browser.until("document.querySelector('.state.bad')?.textContent.includes('tokens')");
        browser.discardErrors();
    }
}
