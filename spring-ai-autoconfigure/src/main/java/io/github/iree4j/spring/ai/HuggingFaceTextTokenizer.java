package io.github.iree4j.spring.ai;

import ai.djl.huggingface.tokenizers.Encoding;
import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.Resource;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.MissingNode;

/**
 * A Hugging Face tokenizer, loaded from a {@code tokenizer.json} through DJL's binding. The native code is in the jar
 * and is copied to DJL's cache directory, {@code ~/.djl.ai} or {@code DJL_CACHE_DIR}. Does not access the network.
 * Thread-safe.
 */
public final class HuggingFaceTextTokenizer implements TextTokenizer, AutoCloseable {

    /** The largest known files, with 250,000 words of a hundred languages, have 20 MB. */
    static final int LARGEST_FILE = 256 << 20;

    /** Limit of each part other than the model; known parts have a few kilobytes. */
    private static final int LARGEST_PART = 1 << 20;

    private static final Map<String, String> OFFLINE = Map.of("OPT_OUT_TRACKING", "true", "RUST_FLAVOR", "cpu");

    /*
     * Three properties of the native code shape this class. A failure in a call for several texts crashes the process,
     * so texts are tokenized one at a time. The native code leaks truncated tokens, so Tokens.cut truncates instead.
     * And deleting a tokenizer in use is not detected, so close() waits for calls in flight.
     */
    private final String location;
    private final ReadWriteLock inUse = new ReentrantReadWriteLock();
    private final OptionalInt maxTokens;
    private @Nullable HuggingFaceTokenizer tokenizer; // guarded by inUse

    private HuggingFaceTextTokenizer(String location, HuggingFaceTokenizer tokenizer, OptionalInt maxTokens) {
        this.location = location;
        this.tokenizer = tokenizer;
        this.maxTokens = maxTokens;
    }

    /**
     * Reads a tokenizer.
     *
     * @param file the {@code tokenizer.json} of the model
     * @return the tokenizer, to be closed by the caller
     * @throws IreeException NOT_FOUND when the file does not exist; DATA_LOSS when the file cannot be read;
     *     INVALID_ARGUMENT when the file is not a tokenizer; RESOURCE_EXHAUSTED when the file is larger than 256 MB;
     *     UNAVAILABLE when the native code cannot be used here
     */
    public static HuggingFaceTextTokenizer load(Resource file) {
        String location = file.getDescription();
        byte[] json = ModelFile.read(file, "tokenizer.json", LARGEST_FILE);
        OptionalInt maxTokens = check(json, location);
        try {
            return new HuggingFaceTextTokenizer(location, open(json), maxTokens);
        } catch (IOException | RuntimeException e) {
            if (e instanceof RuntimeException && e.getCause() != null) { // an EngineException with the reason
                throw unusable(location, e);
            }
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "%s is not a tokenizer that the library supports: %s; it must be the tokenizer.json of the model"
                            .formatted(location, e.getMessage()),
                    e);
        } catch (LinkageError e) {
            throw unusable(location, e);
        }
    }

    private static IreeException unusable(String location, Throwable cause) {
        Throwable root = cause;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return IreeException.of(
                StatusCode.UNAVAILABLE,
                "%s needs native code of ai.djl.huggingface:tokenizers, which cannot be used here: %s; it is available for Linux, macOS and Windows, is copied to ~/.djl.ai or DJL_CACHE_DIR, which must be writable, and needs native access (--enable-native-access=ALL-UNNAMED)"
                        .formatted(location, root),
                cause);
    }

    /**
     * Rejects files that are clearly not tokenizers before native code is called. Allocates no memory for skipped
     * parts.
     */
    private static OptionalInt check(byte[] json, String location) {
        boolean hasModel = false;
        int most = 0;
        try (JsonParser parser = JsonMapper.shared().createParser(json)) {
            boolean isObject = parser.nextToken() == JsonToken.START_OBJECT;
            while (isObject && parser.nextToken() == JsonToken.PROPERTY_NAME) {
                String name = parser.currentName();
                JsonToken value = parser.nextToken();
                switch (name) {
                    case "model" -> hasModel = value == JsonToken.START_OBJECT;
                    case "post_processor" -> checkTemplates(part(parser, json, name, location), location);
                    case "truncation" ->
                        most = part(parser, json, name, location)
                                .path("max_length")
                                .asInt(0);
                    default -> {}
                }
                parser.skipChildren();
            }
        } catch (JacksonException e) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "%s is not JSON: %s; it must be the tokenizer.json of the model"
                            .formatted(location, e.getOriginalMessage()),
                    e);
        }
        if (!hasModel) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "%s has no member 'model'; it must be the tokenizer.json of the model".formatted(location));
        }
        return most > 0 ? OptionalInt.of(most) : OptionalInt.empty();
    }

    /** Reads the object or array at the parser's position and advances the parser. */
    private static JsonNode part(JsonParser parser, byte[] json, String name, String location) {
        if (!parser.currentToken().isStructStart()) {
            return MissingNode.getInstance();
        }
        long start = parser.currentTokenLocation().getByteOffset();
        parser.skipChildren();
        long size = parser.currentLocation().getByteOffset() - start;
        if (start < 0 || size > LARGEST_PART) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "%s has a member '%s' of %s; the limit is %d bytes of UTF-8"
                            .formatted(location, name, start < 0 ? "another encoding" : size + " bytes", LARGEST_PART));
        }
        return JsonMapper.shared().readTree(json, (int) start, (int) size);
    }

    /**
     * A template with an undeclared special token passes the library's checks, but crashes the process at the first
     * text.
     */
    private static void checkTemplates(JsonNode processor, String location) {
        JsonNode declared = processor.path("special_tokens");
        for (String template : List.of("single", "pair")) {
            for (JsonNode piece : processor.path(template)) {
                JsonNode special = piece.path("SpecialToken").path("id");
                if (special.isString() && !declared.path(special.stringValue()).isObject()) {
                    throw IreeException.of(
                            StatusCode.INVALID_ARGUMENT,
                            "%s has a template with the special token '%s', which it does not declare"
                                    .formatted(location, special.stringValue()));
                }
            }
        }
        for (JsonNode part : processor.path("processors")) {
            checkTemplates(part, location);
        }
    }

    /**
     * Disables defaults of the library: to query cloud metadata, report usage to the vendor, and download native code
     * on a machine with a GPU.
     */
    static HuggingFaceTokenizer open(byte[] json) throws IOException {
        synchronized (OFFLINE) {
            Map<String, String> changed = new HashMap<>();
            OFFLINE.forEach((name, value) -> {
                if (System.getenv(name) == null && System.getProperty(name) == null) {
                    System.setProperty(name, value);
                    changed.put(name, value);
                }
            });
            try {
                return HuggingFaceTokenizer.newInstance(
                        new ByteArrayInputStream(json), Map.of("truncation", "false", "padding", "false"));
            } finally {
                changed.keySet().forEach(System::clearProperty); // must not affect other users of the library
            }
        }
    }

    @Override
    public OptionalInt maxTokens() {
        return maxTokens;
    }

    @Override
    public Tokens tokenize(String text) {
        String whole = wellFormed(text);
        return tokens(text.length(), library -> library.encode(whole));
    }

    /** Returns the tokens of a text that has its special tokens already, as texts of chat templates do. */
    long[] tokenizePlain(String text) {
        String whole = wellFormed(text);
        return tokens(text.length(), library -> library.encode(whole, false, false))
                .ids();
    }

    /** Returns all tokens of two texts, by the pair template of the {@code tokenizer.json}. */
    @Override
    public Tokens tokenizePair(String first, String second) {
        String before = wellFormed(first);
        String after = wellFormed(second);
        return tokens(first.length() + second.length(), library -> library.encode(before, after));
    }

    /**
     * Replaces unpaired surrogates: any unpaired surrogate makes the native code misread zeros and all supplementary
     * characters.
     */
    private static String wellFormed(String text) {
        int half = half(text, 0);
        if (half == text.length()) {
            return text;
        }
        StringBuilder whole = new StringBuilder(text);
        for (; half < text.length(); half = half(text, half + 1)) {
            whole.setCharAt(half, '\ufffd');
        }
        return whole.toString();
    }

    /** Returns the index of the next unpaired surrogate; the length if there is none. */
    private static int half(String text, int from) {
        for (int i = from; i < text.length(); i++) {
            if (Character.isSurrogate(text.charAt(i))) {
                if (i + 1 == text.length() || !Character.isSurrogatePair(text.charAt(i), text.charAt(i + 1))) {
                    return i;
                }
                i++;
            }
        }
        return text.length();
    }

    private Tokens tokens(int length, Function<HuggingFaceTokenizer, Encoding> call) {
        Lock reading = inUse.readLock();
        reading.lock();
        try {
            if (tokenizer == null) {
                throw IreeException.of(
                        StatusCode.FAILED_PRECONDITION, "the tokenizer of %s is closed".formatted(location));
            }
            Encoding encoding = call.apply(tokenizer);
            long[] texts = encoding.getSequenceIds();
            byte[] sequences = new byte[texts.length];
            for (int i = 0; i < texts.length; i++) {
                sequences[i] = (byte) texts[i];
            }
            return new Tokens(encoding.getIds(), encoding.getTypeIds(), sequences);
        } catch (IreeException e) {
            throw e;
        } catch (RuntimeException e) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "the tokenizer of %s fails on a text of %d characters: %s"
                            .formatted(location, length, e.getMessage()),
                    e);
        } finally {
            reading.unlock();
        }
    }

    /** Frees native memory after calls in flight have ended. Idempotent. */
    @Override
    public void close() {
        Lock writing = inUse.writeLock();
        writing.lock();
        try {
            if (tokenizer != null) {
                tokenizer.close();
                tokenizer = null;
            }
        } finally {
            writing.unlock();
        }
    }
}
