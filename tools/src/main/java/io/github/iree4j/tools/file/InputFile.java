package io.github.iree4j.tools.file;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** Reads files of command lines, up to a limit. */
public final class InputFile {
    private InputFile() {}

    /**
     * Reads a file to its end, or to the limit: a device or pipe tells no size.
     *
     * @param kind names the file in messages
     * @param file the file
     * @param most the most bytes
     * @return the bytes
     * @throws IreeException NOT_FOUND without the file; INVALID_ARGUMENT for more bytes; UNAVAILABLE if the file cannot
     *     be read
     */
    public static byte[] bytes(String kind, Path file, int most) {
        try (InputStream in = Files.newInputStream(file)) {
            byte[] bytes = in.readNBytes(most + 1);
            if (bytes.length > most) {
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT, "%s '%s' has more than %d bytes".formatted(kind, file, most));
            }
            return bytes;
        } catch (NoSuchFileException e) {
            throw IreeException.of(StatusCode.NOT_FOUND, "there is no %s '%s'".formatted(kind, file), e);
        } catch (IOException e) {
            throw IreeException.of(StatusCode.UNAVAILABLE, "%s '%s': %s".formatted(kind, file, e), e);
        }
    }

    /**
     * Reads the text of a file, as {@link #bytes} reads the bytes.
     *
     * @throws IreeException INVALID_ARGUMENT for bytes that are no UTF-8, too
     */
    public static String text(String kind, Path file, int most) {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes(kind, file, most)))
                    .toString();
        } catch (CharacterCodingException e) {
            throw IreeException.of(StatusCode.INVALID_ARGUMENT, "%s '%s' is not UTF-8 text".formatted(kind, file), e);
        }
    }
}
