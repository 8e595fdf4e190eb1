package io.github.iree4j.tools;

import static io.github.iree4j.tools.CommandLineRun.fixture;
import static io.github.iree4j.tools.CommandLineRun.iree4j;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** {@code dump --output=flatbuffer-json}. */
class ModuleJsonTest {
    private final String module = fixture("3.13.0/vmvx/add.vmfb");

    @Test
    void tablesHaveTheNamesOfTheSchema() {
        CommandLineRun run = iree4j("dump", "--output=flatbuffer-json", module);
        assertThat(run.err()).isEmpty();
        assertThat(run.out())
                .startsWith(
                        "{\"name\":\"module\",\"requirements\":\"YIELD UNWIND\",\"types\":[{\"full_name\":\"i32\"},")
                .contains("\"dependencies\":[{\"name\":\"hal\",\"minimum_version\":7}]")
                .contains("{\"full_name\":\"hal.fence.create\",\"signature\":{\"calling_convention\":\"0rI_r\"}}")
                .contains("\"exported_functions\":[{\"local_name\":\"add\",\"internal_ordinal\":1}")
                .contains("{\"key\":\"iree.abi.declaration\",\"value\":\"sync func @add(")
                .contains("\"bytecode_version\":1114112,\"bytecode_data\":[")
                .endsWith("]}\n");
    }

    @Test
    void indentationChangesNothingElse() {
        String pretty =
                iree4j("dump", "--output=flatbuffer-json", "--pretty", module).out();
        assertThat(pretty).startsWith("{\n  \"name\": \"module\",\n");
        assertThat(pretty.replaceAll("\n *", "").replace("\": ", "\":") + "\n")
                .isEqualTo(iree4j("dump", "--output=flatbuffer-json", module).out());
    }

    @Test
    void otherOutputsAreNamed() {
        CommandLineRun run = iree4j("dump", "--output=xml", module);
        assertThat(run.status()).isEqualTo(2);
        assertThat(run.err()).contains("'xml' is none of all, metadata, disassembly, flatbuffer-json");
    }
}
