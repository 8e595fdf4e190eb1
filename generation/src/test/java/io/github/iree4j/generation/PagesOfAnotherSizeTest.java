package io.github.iree4j.generation;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.status.InvalidInputException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A configuration whose pages have another number of tokens than the pages of the program, which have 16. */
@Timeout(120)
class PagesOfAnotherSizeTest {

    private static GeneratorOptions options(int stride) {
        return GeneratorOptions.builder()
                .config(
                        "config",
                        "{\"max_seq_len\": 1024, \"paged_kv_cache\": {\"block_seq_stride\": %d}}".formatted(stride))
                .pages(200)
                .build();
    }

    /** Returns a request whose prompt begins as the others'. */
    private static GenerationRequest request(int number) {
        int[] prompt = IntStream.range(0, 13).toArray();
        prompt[12] = 100 + number;
        return GenerationRequest.of(30, prompt);
    }

    /** The probe finds nothing, the page of a prefix is shared, and the requests overwrite each other's keys in it. */
    @ParameterizedTest
    @ValueSource(ints = {1, 4, 8, 32})
    void tokensAreTheTokensOfTheRequestAloneOrTheConfigurationIsRefused(int stride) {
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = GeneratorTest.load(runtime, GeneratorTest.DECODER)) {
            List<List<Integer>> alone = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                try (Generator fresh = Generator.create(program, options(stride))) {
                    alone.add(fresh.submit(request(i)).result().await().tokens());
                } catch (InvalidInputException e) {
                    assertThat(e).hasMessageContaining("block_seq_stride");
                    return;
                }
            }
            try (Generator generator = Generator.create(program, options(stride))) {
                generator.submit(request(9)).result().await(); // its pages are kept
                List<Generation> together = IntStream.range(0, 4)
                        .mapToObj(i -> generator.submit(request(i)))
                        .toList();
                assertThat(together.stream()
                                .map(each -> each.result().await().tokens())
                                .toList())
                        .as(generator.description())
                        .isEqualTo(alone);
            }
        }
    }
}
