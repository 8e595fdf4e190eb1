package io.github.iree4j.cluster.identity;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Locale;
import org.junit.jupiter.api.Test;

/** The text of the counts, kept by Kubernetes. */
class SessionCountsTests {
    @Test
    void theTextIsTheSameInEachLanguage() {
        Locale language = Locale.getDefault();
        try {
            Locale.setDefault(Locale.forLanguageTag("fa-IR"));
            SessionCounts counts = SessionCounts.of(7).next(0).next(2).next(2);
            assertThat(counts.toString()).isEqualTo("1 0000000000000007 3 1 0 2");
            assertThat(SessionCounts.parse(counts.toString(), "the text").toString())
                    .isEqualTo(counts.toString());
        } finally {
            Locale.setDefault(language);
        }
    }
}
