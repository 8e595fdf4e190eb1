package io.github.iree4j.tools;

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

/** Reads the text files of command lines. */
final class TextFile {
    private TextFile() {}

    /**
     * Reads a file to its end, or to the limit: a device or pipe tells no size.
     *
     * @param kind names the file in messages
     * @param file the file
     * @param most the most bytes
     * @return the text
     * @throws IreeException NOT_FOUND without the file; INVALID_ARGUMENT for more bytes, or bytes that are no UTF-8;
     *     UNAVAILABLE if the file cannot be read
     */
    static String read(String kind, Path file, int most) {
        try (InputStream in = Files.newInputStream(file)) {
            byte[] bytes = in.readNBytes(most + 1);
            if (bytes.length > most) {
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT, "%s '%s' has more than %d bytes".formatted(kind, file, most));
            }
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (NoSuchFileException e) {
            throw IreeException.of(StatusCode.NOT_FOUND, "there is no %s '%s'".formatted(kind, file), e);
        } catch (CharacterCodingException e) {
            throw IreeException.of(StatusCode.INVALID_ARGUMENT, "%s '%s' is not UTF-8 text".formatted(kind, file), e);
        } catch (IOException e) {
            throw IreeException.of(StatusCode.UNAVAILABLE, "%s '%s': %s".formatted(kind, file, e), e);
        }
    }
}
