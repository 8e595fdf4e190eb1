package io.github.iree4j.sample.search;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The examples of the page on Spring AI about reranking are lines of this application. */
class ExcerptTests {

    private static final Pattern SECTION = Pattern.compile("\n## Reranking\n(.*?)\n## ", Pattern.DOTALL);
    private static final Pattern EXAMPLE = Pattern.compile("```(?:java|yaml)\n(.*?)```", Pattern.DOTALL);

    @Test
    void examplesOfRerankingAreExcerptsOfThisApplication() throws Exception {
        String page = Files.readString(Path.of("../docs/spring-ai.md"));
        String section =
                SECTION.matcher(page).results().findFirst().orElseThrow().group(1);
        String sources = Files.readString(Path.of("src/main/resources/application.yaml"))
                + Files.readString(Path.of("src/main/java/io/github/iree4j/sample/search/Index.java"));
        List<MatchResult> examples = EXAMPLE.matcher(section).results().toList();
        assertThat(examples)
                .hasSize(2)
                .allSatisfy(example -> assertThat(sources).contains(example.group(1)));
    }
}
