package io.github.iree4j.tools;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code iree4j spirv}: packs compute shaders into an executable for programs written in VMASM. */
@Command(
        name = "spirv",
        description = "Packs compute shaders in SPIR-V, one entry point each, into an executable of format "
                + "vulkan-spirv-fb. Its exports have the names of the entry points, in the order given.",
        mixinStandardHelpOptions = true,
        footer = {"", "Shaders take storage buffers in set 0 and push constants of 32 bits."})
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class SpirvCommand implements Runnable {
    @Parameters(paramLabel = "FILE", arity = "1..*", description = "SPIR-V modules.")
    private List<Path> sources;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FILE",
            required = true,
            description = "The executable to write.")
    private Path output;

    SpirvCommand() {}

    @Override
    public void run() {
        try {
            List<SpirvModule> shaders = new ArrayList<>();
            for (Path source : sources) {
                shaders.add(SpirvModule.read(source.toString(), Files.readAllBytes(source)));
            }
            Files.write(output, SpirvExecutable.pack(shaders));
        } catch (NoSuchFileException e) {
            throw new IreeException(StatusCode.NOT_FOUND, "there is no file '%s'".formatted(e.getFile()), e);
        } catch (IOException e) {
            throw new IreeException(StatusCode.UNAVAILABLE, "cannot write '%s': %s".formatted(output, e), e);
        }
    }
}
