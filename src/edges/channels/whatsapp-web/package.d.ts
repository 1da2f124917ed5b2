/** Not a dependency: installed by `lares channels add whatsapp-web`. What we use of it is named in library.ts. */
declare module "@whiskeysockets/baileys";
