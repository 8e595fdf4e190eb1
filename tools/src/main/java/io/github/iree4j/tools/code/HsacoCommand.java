package io.github.iree4j.tools.code;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.tools.file.InputFile;
import io.github.iree4j.tools.file.OutputFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code iree4j hsaco}: packs machine code for AMD's GPUs into an executable for programs written in VMASM. */
@Command(
        name = "hsaco",
        description =
                "Packs code objects for AMD's GPUs, of the same kernels for several architectures, into an executable "
                        + "of format rocm-hsaco-fb. The exports are the kernels; a kernel's arguments are buffers (pointers), then "
                        + "constants (32 bits), and reqd_work_group_size is the size of a workgroup.",
        mixinStandardHelpOptions = true)
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public final class HsacoCommand implements Runnable {
    private static final int LARGEST = 256 << 20; // bytes of a code object

    @Parameters(paramLabel = "FILE", arity = "1..*", description = "A code object for each architecture.")
    private List<Path> sources;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FILE",
            required = true,
            description = "The executable to write.")
    private Path output;

    /** Creates the command; picocli sets the fields. */
    public HsacoCommand() {}

    @Override
    public void run() {
        OutputFiles.requireOther(output, sources);
        try {
            List<CodeObject> objects = new ArrayList<>();
            for (Path source : sources) {
                objects.add(read(source));
            }
            Files.write(output, CodeObjectExecutable.of(objects));
        } catch (IOException e) {
            throw IreeException.of(StatusCode.UNAVAILABLE, "'%s' cannot be made: %s".formatted(output, e), e);
        }
    }

    /** Reads a code object; names the file in failures. */
    private static CodeObject read(Path source) {
        byte[] bytes = InputFile.bytes("code object", source, LARGEST);
        try {
            return CodeObject.read(bytes);
        } catch (IreeException e) {
            throw IreeException.of(e.code(), "'%s' cannot be packed: %s".formatted(source, e.getMessage()), e);
        }
    }
}
