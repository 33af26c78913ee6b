#pragma once
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/obj_mac.h>
#include <openssl/param_build.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/x509.h>

// The plain SHA contexts are deprecated in favor of EVP, but they are what a hasher with value semantics needs:
// no allocation, no failure, copied by assignment. These wrappers keep the deprecation warning out of Swift.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static inline void hearth_sha256_init(SHA256_CTX *context) { SHA256_Init(context); }

static inline void hearth_sha256_update(SHA256_CTX *context, const void *bytes, size_t count) {
  SHA256_Update(context, bytes, count);
}

/// Writes the 32 bytes of the digest.
static inline void hearth_sha256_final(SHA256_CTX *context, unsigned char *digest) { SHA256_Final(digest, context); }

/// Writes the 20 bytes of the digest.
static inline void hearth_sha1(const void *bytes, size_t count, unsigned char *digest) {
  SHA_CTX context;
  SHA1_Init(&context);
  SHA1_Update(&context, bytes, count);
  SHA1_Final(digest, &context);
}

/// One round of PBKDF2's inner loop: HMAC of the first 32 bytes of `block`, which is already padded, in place. The two
/// contexts have consumed the key's blocks.
static inline void hearth_pbkdf2_round(const SHA256_CTX *inner, const SHA256_CTX *outer, unsigned char *block) {
  const SHA256_CTX *keys[2] = {inner, outer};
  for (int half = 0; half < 2; half++) {
    SHA256_CTX context = *keys[half];
    SHA256_Transform(&context, block);
    for (int word = 0; word < 8; word++) {
      unsigned int value = context.h[word];
      block[word * 4] = (unsigned char)(value >> 24);
      block[word * 4 + 1] = (unsigned char)(value >> 16);
      block[word * 4 + 2] = (unsigned char)(value >> 8);
      block[word * 4 + 3] = (unsigned char)value;
    }
  }
}

/// PBKDF2 with HMAC-SHA-256 (RFC 8018) from the inner and outer contexts that have consumed the key.
///
/// Uses the compression function directly: PKCS5_PBKDF2_HMAC copies EVP contexts in every round, which takes five times
/// as long as the hash.
static inline void hearth_pbkdf2(const SHA256_CTX *inner, const SHA256_CTX *outer, const unsigned char *salt,
                                 size_t salt_count, size_t rounds, unsigned char *output, size_t count) {
  unsigned char block[64] = {0};
  // Padding of a 32-byte digest after one block: a one bit, zeros, and the length of 96 bytes in bits.
  block[32] = 0x80;
  block[62] = 0x03;
  for (unsigned int number = 1; count > 0; number++) {
    unsigned char sum[32];
    unsigned char big_endian[4] = {(unsigned char)(number >> 24), (unsigned char)(number >> 16),
                                   (unsigned char)(number >> 8), (unsigned char)number};
    SHA256_CTX context = *inner;
    SHA256_Update(&context, salt, salt_count);
    SHA256_Update(&context, big_endian, sizeof big_endian);
    SHA256_Final(block, &context);
    context = *outer;
    SHA256_Update(&context, block, 32);
    SHA256_Final(block, &context);
    for (int index = 0; index < 32; index++) sum[index] = block[index];
    for (size_t round = 1; round < rounds; round++) {
      hearth_pbkdf2_round(inner, outer, block);
      for (int index = 0; index < 32; index++) sum[index] ^= block[index];
    }
    for (int index = 0; index < 32 && count > 0; index++, count--) *output++ = sum[index];
    OPENSSL_cleanse(sum, sizeof sum);
  }
  OPENSSL_cleanse(block, sizeof block);
}

/// Signs a digest with ECDSA. Writes at most 72 bytes and returns their number, or 0 with the reason in the error queue.
///
/// With a temporary key object: an `EVP_PKEY` takes longer to create than to sign with, and keeping one takes 3.4 KB.
static inline unsigned int hearth_ecdsa_sign(const EC_GROUP *group, const BIGNUM *scalar, const unsigned char *digest,
                                             size_t digest_count, unsigned char *signature) {
  unsigned int count = 72;
  EC_KEY *key = EC_KEY_new();
  if (key == NULL || !EC_KEY_set_group(key, group) || !EC_KEY_set_private_key(key, scalar) ||
      !ECDSA_sign(0, digest, (int)digest_count, signature, &count, key)) {
    count = 0;
  }
  EC_KEY_free(key);
  return count;
}

#pragma GCC diagnostic pop

/// Creates a P-256 public key from an uncompressed point.
///
/// In C because the parameter builder keeps its pointer arguments, names included: Swift's bridged strings would be
/// freed before it reads them. Returns NULL with the reason in the error queue.
static inline EVP_PKEY *hearth_p256_key(const unsigned char *point, size_t count) {
  EVP_PKEY *key = NULL;
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
  OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
  OSSL_PARAM *parameters = NULL;
  if (context != NULL && builder != NULL &&
      OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0) &&
      OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, point, count) &&
      (parameters = OSSL_PARAM_BLD_to_param(builder)) != NULL && EVP_PKEY_fromdata_init(context) == 1 &&
      EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters) != 1) {
    key = NULL;
  }
  OSSL_PARAM_free(parameters);
  OSSL_PARAM_BLD_free(builder);
  EVP_PKEY_CTX_free(context);
  return key;
}

/// Creates a P-256 public key from an uncompressed point as a copy of another key. A copy shares the curve's data,
/// which ``hearth_p256_key`` computes in every call. Returns NULL with the reason in the error queue.
static inline EVP_PKEY *hearth_p256_key_like(EVP_PKEY *other, const unsigned char *point, size_t count) {
  EVP_PKEY *key = EVP_PKEY_dup(other);
  if (key != NULL && EVP_PKEY_set1_encoded_public_key(key, point, count) != 1) {
    EVP_PKEY_free(key);
    key = NULL;
  }
  return key;
}
