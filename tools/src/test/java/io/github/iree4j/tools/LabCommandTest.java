package io.github.iree4j.tools;

import static io.github.iree4j.tools.CommandLineRun.iree4j;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The laboratory as a script sees it. */
class LabCommandTest {
    @TempDir
    Path directory;

    @Test
    void listsScenariosWithTheirScaling() {
        CommandLineRun run = iree4j("lab", "list");
        assertThat(run.status()).isZero();
        assertThat(run.out())
                .contains("fork-join              Fork and join (width, depth, lanes)\n")
                .contains("voice-chat             Voice chat (width)\n");
    }

    @Test
    void printsARunForPeople() {
        CommandLineRun run = iree4j("lab", "run", "late-waiter");
        assertThat(run.status()).as(run.err()).isZero();
        assertThat(run.out())
                .contains("join       8-10 gpu_0        {s:1, g:2}\n")
                .contains("s=3 {s:3}\n")
                .contains("final tick: 11\n");
    }

    @Test
    void printsARunAsJson() throws IOException {
        CommandLineRun run = iree4j("lab", "run", "late-waiter", "--json");
        assertThat(run.status()).as(run.err()).isZero();
        assertThat(run.out())
                .isEqualTo(Files.readString(Path.of("../laboratory/src/test/resources/lab/late-waiter.json")));
    }

    @Test
    void runsAScaledAndFailingFile() throws IOException {
        Path file = Files.writeString(directory.resolve("mine.yaml"), """
                id: mine
                hardware: [{id: gpu, lanes: 1, scalable: true}]
                semaphores: [s]
                operations:
                  - {id: a, hw: gpu, duration: 2, signal: {s: 1}}
                  - {id: b, hw: gpu, duration: 2, wait: {s: 1}, signal: {s: 2}}
                chain_through: [s]
                """);
        CommandLineRun scaled = iree4j("lab", "run", file.toString(), "--width=2", "--depth=2", "--lanes=2");
        assertThat(scaled.status()).as(scaled.err()).isZero();
        assertThat(scaled.out()).contains("b/2.2").contains("final tick: 9\n");
        CommandLineRun lost = iree4j("lab", "run", file.toString(), "--fault=lose:gpu@3", "--host_delay=1");
        assertThat(lost.status())
                .as("failing as it should is no failure of the run")
                .isZero();
        assertThat(lost.out()).contains("failed: UNAVAILABLE; hardware 'gpu' was lost at tick 3");
    }

    @Test
    void comparesThreeWays() {
        CommandLineRun run = iree4j("lab", "compare", "transitive");
        assertThat(run.status()).as(run.err()).isZero();
        assertThat(run.out()).contains("| waits of the hardware | 4 | 4 | 2 |\n");
        assertThat(iree4j("lab", "compare", "transitive", "--json").out()).contains("\"frontiers\": {\"makespan\": ");
    }

    @Test
    void comparesWithFaults() {
        CommandLineRun run = iree4j("lab", "compare", "../docs/draft-ahead.yaml", "--fault=reject:verify_1");
        assertThat(run.status()).as(run.err()).isZero();
        assertThat(run.out()).contains("| operations cancelled | 8 | 8 | 8 |\n");
    }

    @Test
    void writesAPageWithoutNeedOfAServerOrOtherFile() throws IOException {
        Path file = Files.writeString(directory.resolve("mine.yaml"), """
                id: mine
                description: a name with </script> in it
                hardware: [{id: gpu, lanes: 1}]
                semaphores: [s]
                operations: [{id: a, hw: gpu, signal: {s: 1}}]
                """);
        Path page = directory.resolve("page.html");
        CommandLineRun run = iree4j("lab", "page", file.toString(), "late-waiter", "--output=" + page);
        assertThat(run.status()).as(run.err()).isZero();
        assertThat(run.out()).startsWith(page + ": ").endsWith(" kB\n");
        String text = Files.readString(page);
        assertThat(text).doesNotContainPattern("(src|href)=\"(?!data:|[?#])");
        assertThat(text.split("</script>", -1)).as("the scenario is data").hasSize(4);
        assertThat(iree4j("lab", "page", "late-waiter", "--output=" + page).status())
                .isZero();
        assertThat(Files.readString(page)).as("overwritten").hasSizeLessThan(text.length());
        CommandLineRun unknown = iree4j("lab", "page", "nothing", "--output=" + page);
        assertThat(unknown.status()).isNotZero();
        assertThat(unknown.err()).contains("nothing");
        assertThat(iree4j("lab", "page").err()).contains("--output");
        assertThat(iree4j("lab", "page", "late-waiter", "late-waiter", "--output=" + page)
                        .err())
                .contains("'late-waiter' occurs twice");
        Files.writeString(file, Files.readString(file).replace("id: mine", "id: own"));
        assertThat(iree4j("lab", "page", file.toString(), "--output=" + page).err())
                .contains("'own' is reserved");
    }

    @Test
    void namesTheFault() throws IOException {
        assertThat(iree4j("lab").status()).isEqualTo(2);
        CommandLineRun unknown = iree4j("lab", "run", "nothing");
        assertThat(unknown.status()).isEqualTo(1);
        assertThat(unknown.err()).contains("NOT_FOUND").contains("there are sequential,");
        Path file = Files.writeString(directory.resolve("bad.yaml"), "id: bad\nhardware: [cpu]\noperations: 7\n");
        CommandLineRun bad = iree4j("lab", "run", file.toString());
        assertThat(bad.status()).isEqualTo(1);
        assertThat(bad.err()).contains("bad.yaml").contains("'operations' is not a list");
        Path binary = Files.write(directory.resolve("bad.bin"), new byte[] {(byte) 0xC3, 0x28});
        assertThat(iree4j("lab", "run", binary.toString()).err()).contains("is not UTF-8");
        assertThat(iree4j("lab", "run", "voice-chat", "--depth=2").err()).contains("chain_through");
        assertThat(iree4j("lab", "run", "voice-chat", "--fault=lose:moon").err())
                .contains("neither hardware, a machine nor");
    }
}
