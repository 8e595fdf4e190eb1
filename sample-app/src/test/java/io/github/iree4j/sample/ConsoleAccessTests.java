package io.github.iree4j.sample;

import static org.assertj.core.api.Assertions.assertThat;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;

/** The console in a browser: users without the right to read the data, by the answers of Spring Security's logins. */
class ConsoleAccessTests extends ConsoleTests {

    /** How requests are answered. */
    private enum Access {
        /** As without security. */
        ALL,
        /** By a redirection to the page of a login. */
        FORM,
        /** By status 401; with a challenge for a password, the browser would ask for a password first. */
        TOKEN,
        /** By a refusal. */
        NONE
    }

    private static volatile Access access = Access.ALL;
    private static volatile String protectedPath = "/actuator/";

    @TestConfiguration(proxyBeanMethods = false)
    static class Security {
        @Bean
        FilterRegistrationBean<?> logins() {
            return new FilterRegistrationBean<>((request, response, chain) -> {
                String path = ((HttpServletRequest) request).getRequestURI();
                if (path.equals("/login")) {
                    response.setContentType("text/html");
                    response.getWriter().write("<title>Please sign in</title>");
                } else if (access == Access.ALL || !path.startsWith(protectedPath)) {
                    chain.doFilter(request, response);
                } else {
                    refuse((HttpServletResponse) response);
                }
            });
        }

        private static void refuse(HttpServletResponse response) throws IOException {
            switch (access) {
                case FORM -> response.sendRedirect("/login");
                case TOKEN -> response.setStatus(401);
                default -> response.setStatus(403);
            }
        }
    }

    @AfterEach
    void permitAll() {
        access = Access.ALL;
        protectedPath = "/actuator/";
    }

    private static void assertNotice(String sentence) {
        browser.until("document.getElementById('notice')?.textContent === \"" + sentence + "\"");
    }

    @Test
    void anEndedSessionIsReportedAndPollingGoesOnAfterwards() {
        openLive();
        choose("live-interval", "0.5");
        for (Access each : new Access[] {Access.FORM, Access.TOKEN, Access.NONE}) {
            access = each;
            assertNotice(
                    each == Access.NONE
                            ? "You may not read the actuator endpoint 'iree': sign in as a user who may."
                            : "You are not signed in, or not any more: sign in to the application, and load this page"
                                    + " again. The actuator endpoint 'iree' asks for it.");
            assertThat(browser.text("#live-age")).isEqualTo("no answer; again when you return to this page");
            long polls = (Long) browser.eval("window.ireeConsole.live.polls");
            access = Access.ALL;
            browser.eval("document.dispatchEvent(new Event('visibilitychange'))"); // as of a tab that is shown again
            browser.until("window.ireeConsole.live.polls > " + polls + " + 1");
            assertThat(browser.eval("document.getElementById('notice').hidden")).isEqualTo(true);
        }
        browser.discardErrors(); // the browser reports each status
    }

    @Test
    void scenariosAreReadAfterTheUserHasSignedIn() {
        access = Access.FORM;
        openAddress("?scenario=fork-join");
        assertNotice("You are not signed in, or not any more: sign in to the application, and load this page again."
                + " The actuator endpoint 'ireelab' asks for it.");
        access = Access.ALL;
        browser.type("2");
        browser.until("window.ireeConsole.live.polls > 0");
        browser.type("1");
        browser.until("document.getElementById('summary').textContent.startsWith('4 operations')");
    }

    @Test
    void aPageWithoutTheAddressOfItsDataReportsSo() {
        protectedPath = "/iree/console.json";
        access = Access.FORM;
        openAddress("");
        assertNotice("You are not signed in: sign in to the application, and load this page again.");
        access = Access.NONE;
        openAddress("?view=live");
        assertNotice("console.json answers 403: load this page again.");
        browser.discardErrors(); // the browser reports the status
    }

    @Test
    void anAddressWithAUserAndAPasswordLeadsToThePage() {
        openAddress("user:password@", "?scenario=fork-join");
        browser.until("document.getElementById('summary')?.textContent.startsWith('4 operations')");
        browser.type("2");
        browser.until("window.ireeConsole.live.polls > 0");
    }
}
