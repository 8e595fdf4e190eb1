package io.github.iree4j.sample;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;

/** Rings of a single node: without a cluster the sample visits itself. */
@SpringBootTest
@AutoConfigureMockMvc
class RingWebTests {

    @Autowired
    private MockMvcTester mvc;

    @Test
    void everyStageWritesItsMachineAndHasASeparateEpoch() {
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
    void everyProgramTakesTheResultOfTheProgramBefore() {
        MvcTestResult result = mvc.post().uri("/pipelines/programs?stages=5").exchange();
        assertThat(result).hasStatusOk();
        assertThat(result).bodyJson().extractingPath("$.nodes").isEqualTo(1);
        assertThat(result)
                .bodyJson()
                .extractingPath("$.stages[*].result")
                .asArray()
                .containsExactly(1, 2, 3, 4, 5);
        assertThat(result)
                .bodyJson()
                .extractingPath("$.stages[*].epoch")
                .asArray()
                .doesNotHaveDuplicates()
                .doesNotContain(0);
    }

    @Test
    void aRingOfProgramsWouldVisitThisNode() {
        assertThat(mvc.get().uri("/pipelines/programs").exchange())
                .bodyJson()
                .extractingPath("$")
                .asArray()
                .hasSize(1);
    }

    @Test
    void nodesMatchTheVisitedNodes() {
        Round.Stage first = new Round.Stage(0, "node 256 (m0.s1)", 0, "queue:0@m0.s1", 3);
        Round.Stage second = new Round.Stage(1, "node 257 (m1.s1)", 1, "queue:2@m0.s1", 3);
        Round.Stage third = new Round.Stage(2, "node 256 (m0.s1)", 0, "queue:0@m0.s1", 6);
        assertThat(Round.of(0, 1, 2, List.of(first)).nodes()).isEqualTo(1);
        assertThat(Round.of(0, 1, 2, List.of(first, second, third)).nodes()).isEqualTo(2);
    }

    @Test
    void moreStagesThanAllowedAreABadRequest() {
        for (String stages : new String[] {"0", "257", "many"}) {
            for (String pipeline : new String[] {"ring", "programs"}) {
                assertThat(mvc.post()
                                .uri("/pipelines/" + pipeline + "?stages=" + stages)
                                .exchange())
                        .hasStatus(400);
            }
        }
    }
}
