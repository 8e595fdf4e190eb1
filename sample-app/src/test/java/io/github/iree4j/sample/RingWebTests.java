package io.github.iree4j.sample;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
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
    void nodesAreThoseThatWereVisited() {
        Ring.Stage first = new Ring.Stage(0, "node 256 (m0.s1)", 0, "queue:0@m0.s1", 3);
        Ring.Stage second = new Ring.Stage(1, "node 257 (m1.s1)", 1, "queue:2@m0.s1", 3);
        Ring.Stage third = new Ring.Stage(2, "node 256 (m0.s1)", 0, "queue:0@m0.s1", 6);
        assertThat(Ring.Round.of(1, 2, List.of(first)).nodes()).isEqualTo(1);
        assertThat(Ring.Round.of(1, 2, List.of(first, second, third)).nodes()).isEqualTo(2);
    }

    @Test
    void moreStagesThanAllowedAreABadRequest() {
        for (String stages : new String[] {"0", "257", "many"}) {
            assertThat(mvc.post().uri("/pipelines/ring?stages=" + stages).exchange())
                    .hasStatus(400);
        }
    }
}
