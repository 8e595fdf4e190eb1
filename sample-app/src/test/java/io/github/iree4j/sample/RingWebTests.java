package io.github.iree4j.sample;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;

/** A ring of one node: without a cluster the sample visits itself. */
@SpringBootTest
@AutoConfigureMockMvc
class RingWebTests {

    @Autowired
    private MockMvcTester mvc;

    @Test
    void everyStageWritesItsMachineAndHasAnEpochOfItsOwn() {
        MvcTestResult result = mvc.post().uri("/pipelines/ring?stages=5").exchange();
        assertThat(result).hasStatusOk();
        assertThat(result).bodyJson().extractingPath("$.nodes").isEqualTo(1);
        assertThat(result)
                .bodyJson()
                .extractingPath("$.stages[*].result")
                .asArray()
                .containsExactly(0, 0, 0, 0, 0);
        assertThat(result)
                .bodyJson()
                .extractingPath("$.stages[*].epoch")
                .asArray()
                .doesNotHaveDuplicates();
    }

    @Test
    void moreStagesThanAllowedAreABadRequest() {
        for (String stages : new String[] {"0", "257", "many"}) {
            assertThat(mvc.post().uri("/pipelines/ring?stages=" + stages).exchange())
                    .hasStatus(400);
        }
    }
}
