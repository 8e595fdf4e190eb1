package io.github.iree4j.sample.search;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.greaterThan;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.content;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.forwardedUrl;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.jsonPath;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.status;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
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

/** The application over this project's documents, with its small encoder. */
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

    /** Documents change; most answers stay. */
    @Test
    void mostQuestionsAreAnsweredInTheTopFive() throws Exception {
        int found = 0;
        List<String> questions = new ClassPathResource("questions.txt")
                .getContentAsString(StandardCharsets.UTF_8)
                .lines()
                .toList();
        for (String line : questions) {
            String[] parts = line.split("\\|");
            List<String> pages =
                    Arrays.stream(parts[1].split(",")).map(String::strip).toList();
            found += index.find(parts[0].strip(), 5).stream()
                            .anyMatch(hit -> pages.contains(hit.passage().page()))
                    ? 1
                    : 0;
        }
        System.out.printf(
                "small encoder: %d of %d questions answered in the first five passages%n", found, questions.size());
        assertThat(found).isGreaterThanOrEqualTo(questions.size() * 3 / 4);
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
                .andExpect(content().string(containsString("run <code>bin/prepare-model minilm</code>")));
        mvc.perform(get("/search.js")).andExpect(status().isOk());
        mvc.perform(get("/search.css")).andExpect(status().isOk());
        mvc.perform(get("/documents/spring-ai.md")).andExpect(status().isOk());
    }
}
