package io.github.iree4j.tools.code;

import io.github.iree4j.flatbuffer.ExecutableHeader;
import io.github.iree4j.flatbuffer.FlatBufferWriter;
import io.github.iree4j.flatbuffer.FlatBufferWriter.Bytes;
import io.github.iree4j.flatbuffer.FlatBufferWriter.Table;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Executables made of PTX. */
public final class PtxExecutable {
    private static final String CUDA = "CDA1";

    private static final Pattern COMMENT = Pattern.compile("//.*|(?s)/\\*.*?\\*/");
    private static final Pattern ENTRY = Pattern.compile("\\.entry\\s+([\\w$%]+)\\s*\\(([^)]*)\\)([^{]*)\\{");
    private static final Pattern BLOCK =
            Pattern.compile("\\.reqntid\\s+(\\d+)(?:\\s*,\\s*(\\d+))?(?:\\s*,\\s*(\\d+))?");
    private static final Pattern POINTER = Pattern.compile("\\.param\\s+\\.[bu]64\\s[^\\[]*");
    private static final Pattern CONSTANT = Pattern.compile("\\.param\\s+\\.[bsuf]32\\s[^\\[]*");

    private PtxExecutable() {}

    /**
     * Makes an executable of PTX. The exports are the entries, in order. An entry's parameters are 64-bit addresses of
     * buffers, then 32-bit constants; {@code .reqntid} gives the size of a block.
     *
     * @param sources PTX
     * @return an executable of format {@code cuda-nvptx-fb}
     * @throws IreeException INVALID_ARGUMENT for any other entry, with the entry's name
     */
    public static byte[] of(List<String> sources) {
        List<Table> kernels = new ArrayList<>();
        List<Table> modules = new ArrayList<>();
        for (String source : sources) {
            Matcher entry = ENTRY.matcher(COMMENT.matcher(source).replaceAll(""));
            int before = kernels.size();
            while (entry.find()) {
                kernels.add(kernel(modules.size(), entry.group(1), entry.group(2), entry.group(3)));
            }
            if (kernels.size() == before) {
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT, "PTX has no .entry; declare the kernels '.visible .entry'");
            }
            modules.add(new Table().text(0, source));
        }
        return ExecutableHeader.before(
                FlatBufferWriter.write(new Table().tables(0, kernels).tables(1, modules), CUDA, 8), CUDA);
    }

    private static Table kernel(int module, String name, String parameters, String directives) {
        int buffers = 0;
        int constants = 0;
        for (String parameter : parameters.isBlank() ? new String[0] : parameters.split(",")) {
            String text = parameter.strip();
            if (POINTER.matcher(text).matches() && constants == 0) {
                buffers++;
            } else if (CONSTANT.matcher(text).matches()) {
                constants++;
            } else {
                throw invalid(
                        name,
                        "has the parameter '%s'; buffers (.u64) come first, then constants (.u32)".formatted(text));
            }
        }
        Matcher block = BLOCK.matcher(directives);
        if (!block.find()) {
            throw invalid(
                    name, "does not say how many threads a block has; add '.reqntid x, y, z' after the parameters");
        }
        checkLimit(name, "buffers", buffers, CommandBuffer.MAXIMUM_BINDINGS);
        checkLimit(name, "constants", constants, CommandBuffer.MAXIMUM_CONSTANTS);
        Table table = new Table()
                .text(1, name)
                .struct(2, threads(block.group(1)), threads(block.group(2)), threads(block.group(3)))
                .u32(4, constants)
                .node(5, new Bytes(new byte[8 * buffers], 8, 8));
        return module == 0 ? table : table.u32(0, module);
    }

    private static int threads(@Nullable String count) {
        return count == null
                ? 1
                : count.length() > 4 ? Short.MAX_VALUE : Integer.parseInt(count); // readers check the limit
    }

    private static void checkLimit(String name, String what, int count, int limit) {
        if (count > limit) {
            throw invalid(name, "has %d %s, the limit is %d".formatted(count, what, limit));
        }
    }

    private static IreeException invalid(String name, String what) {
        return IreeException.of(StatusCode.INVALID_ARGUMENT, "kernel '%s' %s".formatted(name, what));
    }
}
