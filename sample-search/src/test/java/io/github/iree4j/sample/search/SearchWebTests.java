package io.github.iree4j.sample.search;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.greaterThan;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.content;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.forwardedUrl;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.jsonPath;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.status;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.BiFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.core.io.ClassPathResource;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.ResultActions;

/** The application over this project's documents, with the small encoder and the small reranker. */
@SpringBootTest
@AutoConfigureMockMvc
@Timeout(900)
class SearchWebTests {

    @Autowired
    private MockMvc mvc;

    @Autowired
    private Index index;

    @BeforeEach
    void everythingIsIndexed() throws InterruptedException {
        index.join();
    }

    private ResultActions search(String query) throws Exception {
        return mvc.perform(get("/search").param("q", query));
    }

    @Test
    void findsTheNearestPassagesFirst() throws Exception {
        search("timelines and fences")
                .andExpect(status().isOk())
                .andExpect(jsonPath("$.hits.length()").value(8))
                .andExpect(jsonPath("$.hits[0].passage.page").value("timelines.md"))
                .andExpect(jsonPath("$.hits[0].passage.title").isNotEmpty())
                .andExpect(jsonPath("$.hits[0].score").value(greaterThan(0.5)))
                .andExpect(jsonPath("$.index.problem").isEmpty());
    }

    @Test
    void rerankingSortsTheNearestPassagesByRelevance() throws Exception {
        mvc.perform(get("/search")
                        .param("q", "why JNI and not the foreign function API")
                        .param("rerank", "true"))
                .andExpect(status().isOk())
                .andExpect(jsonPath("$.isReranked").value(true))
                .andExpect(jsonPath("$.hits.length()").value(8))
                .andExpect(jsonPath("$.hits[0].passage.page").value("decisions/0002-jni-for-native-calls.md"));
        List<Index.Hit> hits = index.findReranked("cancel a call that takes too long", 50);
        assertThat(hits)
                .hasSize(50)
                .isSortedAccordingTo(Comparator.comparing(Index.Hit::score).reversed());
        assertThat(hits)
                .extracting(Index.Hit::score)
                .allSatisfy(score -> assertThat(score).isBetween(0.0, 1.0));
        assertThat(hits)
                .extracting(Index.Hit::nearest)
                .as("the nearest passages, in another order")
                .containsExactlyInAnyOrderElementsOf(
                        IntStream.rangeClosed(1, 50).boxed().toList())
                .isNotEqualTo(IntStream.rangeClosed(1, 50).boxed().toList());
    }

    @Test
    void withoutRerankingTheNearestPassageIsFirst() throws Exception {
        search("cancel a call that takes too long")
                .andExpect(jsonPath("$.isReranked").value(false))
                .andExpect(jsonPath("$.hits[0].nearest").value(1))
                .andExpect(jsonPath("$.hits[7].nearest").value(8));
        mvc.perform(get("/search").param("q", "fence").param("rerank", "perhaps"))
                .andExpect(status().isBadRequest());
    }

    /** Documents change; most answers stay. */
    @Test
    void mostQuestionsAreAnsweredInTheTopFive() throws Exception {
        int found = answered("small encoder", index::find, 5);
        assertThat(found).isGreaterThanOrEqualTo(questions().size() * 3 / 4);
        assertThat(answered("small encoder, reranked", index::findReranked, 5))
                .isGreaterThanOrEqualTo(questions().size() * 3 / 4);
    }

    @Test
    void rerankingAnswersMoreQuestionsWithTheFirstPassage() throws Exception {
        assertThat(answered("small encoder, reranked", index::findReranked, 1))
                .isGreaterThan(answered("small encoder", index::find, 1));
    }

    private static List<String> questions() throws IOException {
        return new ClassPathResource("questions.txt")
                .getContentAsString(StandardCharsets.UTF_8)
                .lines()
                .toList();
    }

    private static int answered(String model, BiFunction<String, Integer, List<Index.Hit>> search, int most)
            throws IOException {
        int found = 0;
        for (String line : questions()) {
            String[] parts = line.split("\\|");
            List<String> pages =
                    Arrays.stream(parts[1].split(",")).map(String::strip).toList();
            found += search.apply(parts[0].strip(), most).stream()
                            .anyMatch(hit -> pages.contains(hit.passage().page()))
                    ? 1
                    : 0;
        }
        System.out.printf(
                "%s: %d of %d questions answered in the first %d passages%n",
                model, found, questions().size(), most);
        return found;
    }

    @Test
    void findsPartialWords() throws Exception {
        search("vulk").andExpect(jsonPath("$.hits[0].passage.text").value(containsString("ulkan")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "   ", "?!", "\ud83d\ude00"})
    void findsNothingForEmptyQueries(String query) throws Exception {
        search(query)
                .andExpect(status().isOk())
                .andExpect(jsonPath("$.hits.length()").value(0));
        mvc.perform(get("/search").param("q", query).param("rerank", "true"))
                .andExpect(status().isOk())
                .andExpect(jsonPath("$.hits.length()").value(0));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\u65e5\u672c\u8a9e",
                "\u0000 fence",
                "\ud800 fence",
                "<script>alert(1)</script>",
                "Ünïcödé fence"
            })
    void acceptsAnyQuery(String query) throws Exception {
        search(query).andExpect(status().isOk());
        mvc.perform(get("/search").param("q", query).param("rerank", "true")).andExpect(status().isOk());
    }

    @Test
    void reportsInvalidRequests() throws Exception {
        search("x".repeat(301))
                .andExpect(status().isBadRequest())
                .andExpect(content().contentType(MediaType.APPLICATION_PROBLEM_JSON))
                .andExpect(jsonPath("$.detail").value("'q' has 301 characters; the limit is 300"));
        mvc.perform(get("/search").param("q", "fence").param("limit", "51"))
                .andExpect(status().isBadRequest())
                .andExpect(jsonPath("$.detail").value("'limit' must be between 1 and 50, not 51"));
        mvc.perform(get("/search")).andExpect(status().isBadRequest());
    }

    @Test
    void reportsTheSmallEncoder() throws Exception {
        mvc.perform(get("/model"))
                .andExpect(jsonPath("$.name").value("small-encoder"))
                .andExpect(jsonPath("$.isSmall").value(true))
                .andExpect(jsonPath("$.dimensions").value(128))
                .andExpect(jsonPath("$.index.passages").value(greaterThan(300)));
    }

    @Test
    void servesThePageAndTheDocuments() throws Exception {
        mvc.perform(get("/")).andExpect(status().isOk()).andExpect(forwardedUrl("index.html"));
        mvc.perform(get("/index.html"))
                .andExpect(content().string(containsString("id=\"query\"")))
                .andExpect(content().string(containsString("id=\"rerank\"")))
                .andExpect(content().string(containsString("run <code>bin/prepare-model minilm</code>")));
        mvc.perform(get("/search.js")).andExpect(status().isOk());
        mvc.perform(get("/search.css")).andExpect(status().isOk());
        mvc.perform(get("/documents/spring-ai.md")).andExpect(status().isOk());
    }
}
