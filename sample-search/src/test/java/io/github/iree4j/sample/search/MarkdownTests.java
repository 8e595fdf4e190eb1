package io.github.iree4j.sample.search;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class MarkdownTests {

    private static List<Passage> passages(String text) {
        return Markdown.passages("page.md", text);
    }

    @Test
    void passagesHaveTheirHeadings() {
        assertThat(passages("""
                # The title
                Before.
                ## Part
                ### Detail
                Within.
                ## Other
                After.
                """))
                .containsExactly(
                        new Passage("page.md", "The title", "", "Before."),
                        new Passage("page.md", "The title", "Part › Detail", "Within."),
                        new Passage("page.md", "The title", "Other", "After."));
    }

    @Test
    void markupAndCodeAreOmitted() {
        assertThat(passages("""
                # T
                See [the *page*](page.md) of **`iree.modules`**, 2*3.
                ```
                code
                ```
                <!-- comment -->
                > [!WARNING]
                > Not now.
                """))
                .singleElement()
                .extracting(Passage::text)
                .isEqualTo("See the page of iree.modules, 2*3. Not now.");
    }

    @Test
    void rowsAndItemsStayWhole() {
        assertThat(passages("""
                | Name | Meaning |
                |---|:--|
                | a | first |

                - one
                  goes on
                - two
                """)).singleElement().satisfies(passage -> {
            assertThat(passage.text()).isEqualTo("Name: Meaning a: first one goes on two");
            assertThat(passage.title()).isEqualTo("page.md");
        });
    }

    @Test
    void longTextsAreSplitAtSentences() {
        String sentence = "word ".repeat(29) + "end. ";
        List<Passage> passages = passages("# T\n" + sentence.repeat(10));
        assertThat(passages)
                .hasSize(4)
                .allSatisfy(
                        passage -> assertThat(passage.text()).endsWith("end.").hasSizeLessThan(500));
        assertThat(passages("# T\n" + "word ".repeat(500)))
                .as("one without end is one")
                .hasSize(1);
    }

    @Test
    void anyTextIsAccepted() {
        assertThat(passages("")).isEmpty();
        assertThat(passages("```\nnever closed")).isEmpty();
        assertThat(passages("|||\n#\n######\n- \n")).isEmpty();
        assertThat(passages("###### deep\ntext").getFirst().heading()).isEqualTo("deep");
    }
}
