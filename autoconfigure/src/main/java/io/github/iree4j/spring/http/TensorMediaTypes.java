package io.github.iree4j.spring.http;

import io.github.iree4j.NpyFormat;
import io.github.iree4j.Tensor;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;

/**
 * Tensors as HTTP bodies: {@code application/x-npy}, NumPy's format, and {@code
 * application/octet-stream;type=f32;shape="1,64"}, the raw elements, row-major and little-endian.
 */
public final class TensorMediaTypes {

    /** NumPy's format. */
    public static final MediaType NPY = MediaType.valueOf("application/x-npy");

    /** Raw elements, described by the parameters {@code type} and {@code shape}. */
    public static final MediaType OCTET_STREAM = MediaType.APPLICATION_OCTET_STREAM;

    /** All supported types. */
    static final List<MediaType> ALL = List.of(NPY, OCTET_STREAM);

    private TensorMediaTypes() {}

    /** Returns whether a body of the given type can be read as a tensor. */
    static boolean isReadable(@Nullable MediaType type) {
        return type != null
                && (NPY.isCompatibleWith(type)
                        || (OCTET_STREAM.isCompatibleWith(type) && type.getParameter("type") != null));
    }

    /** Returns whether a tensor can be written as the given type. */
    static boolean isWritable(@Nullable MediaType type) {
        return type == null || NPY.isCompatibleWith(type) || OCTET_STREAM.isCompatibleWith(type);
    }

    /**
     * Reads the body of a request.
     *
     * @param length declared length in bytes; negative when unknown
     * @param maximumBytes maximum length
     * @throws IreeException INVALID_ARGUMENT and others when the body is not a tensor
     * @throws RefusedBody 413 when the body is too large
     */
    static Tensor readBody(InputStream in, MediaType type, long length, long maximumBytes) throws IOException {
        if (length > maximumBytes) {
            throw tooLarge("the body of %d bytes is".formatted(length), maximumBytes);
        }
        try {
            return read(in, type, length < 0 ? maximumBytes : Math.min(length, maximumBytes));
        } catch (IreeException e) {
            if (e.code() != StatusCode.RESOURCE_EXHAUSTED) {
                throw e;
            }
            if (length >= 0 && length <= maximumBytes) {
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT,
                        "the body of %d bytes does not match its header: %s".formatted(length, e.getMessage()),
                        e);
            }
            throw tooLarge(e.getMessage() + "; it is", maximumBytes);
        }
    }

    static RefusedBody tooLarge(String what, long maximumBytes) {
        return new RefusedBody(
                HttpStatus.CONTENT_TOO_LARGE,
                "%s larger than the limit of %d bytes; send less, or raise '%s'"
                        .formatted(what, maximumBytes, BodyLimits.SIZE));
    }

    /**
     * Reads a tensor of limited size.
     *
     * @param maximumBytes maximum size of the elements
     * @throws IreeException INVALID_ARGUMENT and others when the body is not a tensor; RESOURCE_EXHAUSTED when the
     *     tensor is too large
     */
    static Tensor read(InputStream in, MediaType type, long maximumBytes) throws IOException {
        if (NPY.isCompatibleWith(type)) {
            return NpyFormat.read(in, maximumBytes);
        }
        ElementType element = ElementType.parse(String.valueOf(type.getParameter("type")));
        Shape shape = shape(type.getParameter("shape"));
        long size = element.byteSize(shape.elementCount());
        if (size > maximumBytes) {
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "a tensor of %d bytes is larger than %d".formatted(size, maximumBytes));
        }
        Tensor tensor = Tensor.read(in, element, shape.dimensions());
        if (in.read() >= 0) {
            throw invalid("the body is longer than the %d bytes of %s".formatted(size, type));
        }
        return tensor;
    }

    private static Shape shape(@Nullable String text) {
        if (text == null) {
            throw invalid("media type parameter 'shape' is missing, such as shape=\"1,64\"");
        }
        String plain = text.replace("\"", "").strip();
        if (plain.isEmpty()) {
            return Shape.SCALAR;
        }
        String[] parts = plain.split("[,x]", Shape.MAXIMUM_RANK + 1);
        long[] dimensions = new long[parts.length];
        for (int i = 0; i < parts.length; i++) {
            try {
                dimensions[i] = Long.parseLong(parts[i].strip());
            } catch (NumberFormatException e) {
                throw invalid("dimension %d of media type parameter 'shape' is not a number".formatted(i));
            }
        }
        return Shape.of(dimensions);
    }

    /** Returns the media type of a response with a tensor. */
    static MediaType typeOf(Tensor tensor, @Nullable MediaType wanted) {
        if (wanted == null || NPY.isCompatibleWith(wanted)) {
            return NPY;
        }
        String shape = tensor.shape().toString().replace('x', ',');
        return new MediaType(
                OCTET_STREAM, Map.of("type", tensor.elementType().toString(), "shape", "\"" + shape + "\""));
    }

    static void write(Tensor tensor, MediaType type, OutputStream out) throws IOException {
        if (NPY.isCompatibleWith(type)) {
            NpyFormat.write(out, tensor);
        } else {
            tensor.writeTo(out);
        }
    }

    private static IreeException invalid(String message) {
        return IreeException.of(StatusCode.INVALID_ARGUMENT, message);
    }
}
