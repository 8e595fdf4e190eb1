package io.github.iree4j.spring.ai;

import io.github.iree4j.generation.sampling.TokenConstraint;
import io.github.iree4j.generation.sampling.TokenVocabulary;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The constraints of recent requests: a constraint remembers which tokens may follow, for further requests. Thread-safe. */
final class KnownConstraints {
    private static final int MOST = 4; // each has up to 16 MiB

    private final Supplier<TokenVocabulary> vocabularies;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, TokenConstraint> recent =
            new LinkedHashMap<>(8, 0.75f, true); // guarded by lock, by schema
    private @Nullable TokenVocabulary vocabulary; // guarded by lock; made for the first constraint

    /**
     * Creates an empty set.
     *
     * @param vocabularies makes the vocabulary of the model, which takes time and memory for large vocabularies
     */
    KnownConstraints(Supplier<TokenVocabulary> vocabularies) {
        this.vocabularies = vocabularies;
    }

    /**
     * Returns a constraint.
     *
     * @param schema a JSON schema; empty for any JSON object
     * @throws io.github.iree4j.status.IreeException INVALID_ARGUMENT for a schema that cannot be kept
     */
    TokenConstraint of(String schema) {
        TokenVocabulary texts;
        lock.lock();
        try {
            TokenConstraint known = recent.get(schema);
            if (known != null) {
                return known;
            }
            if (vocabulary == null) {
                vocabulary = vocabularies.get();
            }
            texts = vocabulary;
        } finally {
            lock.unlock();
        }
        TokenConstraint made =
                schema.isEmpty() ? TokenConstraint.jsonObject(texts) : TokenConstraint.jsonSchema(texts, schema);
        lock.lock();
        try {
            recent.put(schema, made);
            if (recent.size() > MOST) {
                recent.remove(recent.keySet().iterator().next());
            }
        } finally {
            lock.unlock();
        }
        return made;
    }
}
